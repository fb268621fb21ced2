// SPDX-License-Identifier: Apache-2.0
#include "io/text_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <span>
#include <string_view>
#include <thread>

#include "io/system_call.hpp"
#include "kernels/error.hpp"

namespace spsolve {
namespace {

/// Returns the descriptor of this process that a path such as /dev/stdout names, or nothing if it names none.
/// Opening the path again may not be allowed, so callers duplicate the descriptor.
std::optional<int> open_descriptor(const std::filesystem::path& path) {
  const std::string name = path.lexically_normal();
  if (name == "/dev/stdin") return STDIN_FILENO;
  if (name == "/dev/stdout") return STDOUT_FILENO;
  if (name == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view directory : {"/dev/fd/", "/proc/self/fd/"}) {
    int number = -1;
    if (!name.starts_with(directory)) continue;
    const char* const end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + directory.size(), end, number);
    if (read.ec == std::errc() && read.ptr == end) return number;
  }
  return std::nullopt;
}

/// Opens a named pipe for writing, when a process has opened it for reading. Without O_NONBLOCK the system
/// would wait for that without an end, whatever signals come.
int open_pipe(const std::filesystem::path& pipe) {
  constexpr std::chrono::milliseconds patience(10'000);
  for (const auto begin = std::chrono::steady_clock::now();;) {
    const int descriptor = ::open(pipe.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor >= 0) ::fcntl(descriptor, F_SETFL, 0);  // writes wait for the reader
    if (descriptor >= 0 || errno != ENXIO) return descriptor;
    if (std::chrono::steady_clock::now() - begin > patience)
      throw Error(Status::file_failure, fmt::format("{}: is a pipe from which nobody reads", pipe.string()));
    std::this_thread::sleep_for(patience / 200);
  }
}

/// Opens a stream. The path `-` stands for the descriptor `standard`.
int open_stream(const std::filesystem::path& path, int standard, int flags) {
  const auto known = path == "-" ? std::optional(standard) : open_descriptor(path);
  const bool waits = !known && (flags & O_WRONLY) != 0 && std::filesystem::is_fifo(path);
  const int descriptor = known   ? ::fcntl(*known, F_DUPFD_CLOEXEC, 0)
                         : waits ? open_pipe(path)
                                 : retry([&] { return ::open(path.c_str(), flags | O_CLOEXEC); });
  if (descriptor < 0) fail_at(path, "open", errno);
  return descriptor;
}

void write_stream(const std::filesystem::path& path, std::string_view text) {
  std::fflush(stdout);
  const int descriptor = open_stream(path, STDOUT_FILENO, O_WRONLY | O_NOCTTY);
  ssize_t count = 0;
  while (!text.empty() && count >= 0) {
    count = retry([&] { return ::write(descriptor, text.data(), text.size()); });
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
  const int error = errno;
  ::close(descriptor);
  if (count < 0) fail_at(path, "write", error);
}

[[noreturn]] void fail_as_too_long(const std::filesystem::path& path, const std::string& found,
                                   std::int64_t most) {
  throw Error(Status::file_failure,
              fmt::format("{}: {}, wanted a text of {} MiB at most", path.string(), found, most >> 20));
}

std::string read_stream(const std::filesystem::path& path, std::int64_t most) {
  const int descriptor = open_stream(path, STDIN_FILENO, O_RDONLY | O_NOCTTY);
  std::string text;
  std::array<char, 65536> piece{};
  ssize_t count = 0;
  while (std::ssize(text) <= most &&
         (count = retry([&] { return ::read(descriptor, piece.data(), piece.size()); })) > 0)
    text.append(piece.data(), static_cast<std::size_t>(count));
  const int error = errno;
  ::close(descriptor);
  if (count < 0) fail_at(path, "read", error);
  if (std::ssize(text) > most) fail_as_too_long(path, "does not end", most);
  return text;
}

/// Writes a text to `temporary`, which then replaces `file`.
void replace(const std::filesystem::path& file, const std::string& text,
             const std::filesystem::path& temporary, Flush flush) {
  try {
    FileDescriptor output(temporary, FileDescriptor::Mode::create);
    output.write(0, std::as_bytes(std::span(text)));
    if (flush == Flush::now) output.flush();
    output.close();
    publish(temporary, file, flush);
  } catch (const Error&) {
    ::unlink(temporary.c_str());
    throw;
  }
}

}  // namespace

bool is_stream(const std::filesystem::path& path) {
  if (path == "-" || open_descriptor(path)) return true;
  std::error_code missing;
  const auto status = std::filesystem::status(path, missing);
  return std::filesystem::exists(status) && std::filesystem::is_other(status);
}

bool is_standard_output(const std::filesystem::path& path) {
  return path == "-" || open_descriptor(path) == STDOUT_FILENO;
}

std::filesystem::path followed(const std::filesystem::path& file) {
  constexpr int max_links = 40;  // limit on links in a row, as in Linux
  std::filesystem::path target = file;
  for (int links = 0; std::filesystem::is_symlink(std::filesystem::symlink_status(target)); ++links) {
    if (links == max_links) fail_at(file, "follow", ELOOP);
    target = directory_of(target) / std::filesystem::read_symlink(target);
  }
  const std::string what =
      target == file ? file.string() : fmt::format("{}: is a link to {}", file.string(), target.string());
  std::error_code unseen;
  if (std::filesystem::is_directory(target, unseen))
    throw Error(Status::file_failure, what + ": is a directory, wanted the name of a file");
  if (!std::filesystem::is_directory(directory_of(target), unseen))
    throw Error(Status::file_failure,
                fmt::format("{}: there is no directory {}", what, directory_of(target).string()));
  return target;
}

void write_text(const std::filesystem::path& file, const std::string& text, Flush flush) {
  if (is_stream(file)) return write_stream(file, text);
  const std::filesystem::path target = followed(file);
  replace(target, text, temporary_name(target), flush);
}

void append_text(const std::filesystem::path& file, const std::string& text) {
  if (is_stream(file)) return write_stream(file, text);
  errno = 0;
  std::ofstream output(file, std::ios::app);
  output << text;
  output.close();
  if (!output)
    throw Error(Status::file_failure, fmt::format("{}: cannot write: {}", file.string(),
                                                  errno ? std::strerror(errno) : "unknown reason"));
}

std::optional<FileDescriptor> keep_pipe_open(const std::filesystem::path& path) {
  std::error_code missing;
  if (!std::filesystem::is_fifo(path, missing)) return {};
  return FileDescriptor(path, open_stream(path, STDOUT_FILENO, O_WRONLY));
}

void write_cache(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  const std::filesystem::path target = followed(file);
  replace(target, text, own_temporary_name(target), Flush::later);
}

std::string read_text(const std::filesystem::path& file, std::int64_t most) {
  if (is_stream(file)) return read_stream(file, most);
  const FileDescriptor input(file, FileDescriptor::Mode::read);
  if (input.size() > most) fail_as_too_long(file, fmt::format("has {} bytes", input.size()), most);
  std::string text(static_cast<std::size_t>(input.size()), '\0');
  input.read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace spsolve
