// SPDX-License-Identifier: Apache-2.0
#include "io/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <set>
#include <string_view>

#include "halo/communicator.hpp"
#include "kernels/error.hpp"

namespace spsolve {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, const char* action, int error) {
  throw Error(Status::file_failure,
              fmt::format("{}: cannot {}: {}", file.string(), action, std::strerror(error)));
}

/// Calls a system function again while a signal interrupts it.
template <class Call>
auto retry(Call&& call) {
  decltype(call()) result;
  do result = call();
  while (result < 0 && errno == EINTR);
  return result;
}

int flags_of(FileDescriptor::Mode mode) {
  switch (mode) {
    case FileDescriptor::Mode::modify:
      return O_RDWR;
    case FileDescriptor::Mode::create:
      return O_RDWR | O_CREAT | O_TRUNC;
    case FileDescriptor::Mode::read:
      break;
  }
  return O_RDONLY;
}

std::filesystem::path directory_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

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

/// Opens a stream. The path `-` stands for the descriptor `standard`.
int open_stream(const std::filesystem::path& path, int standard, int flags) {
  const auto known = path == "-" ? std::optional(standard) : open_descriptor(path);
  const int descriptor = known ? ::fcntl(*known, F_DUPFD_CLOEXEC, 0)
                               : retry([&] { return ::open(path.c_str(), flags | O_CLOEXEC); });
  if (descriptor < 0) fail(path, "open", errno);
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
  if (count < 0) fail(path, "write", error);
}

std::string read_stream(const std::filesystem::path& path) {
  const int descriptor = open_stream(path, STDIN_FILENO, O_RDONLY | O_NOCTTY);
  std::string text;
  std::array<char, 65536> piece{};
  ssize_t count = 0;
  while ((count = retry([&] { return ::read(descriptor, piece.data(), piece.size()); })) > 0)
    text.append(piece.data(), static_cast<std::size_t>(count));
  const int error = errno;
  ::close(descriptor);
  if (count < 0) fail(path, "read", error);
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

FileDescriptor::FileDescriptor(const std::filesystem::path& file, Mode mode)
    : file_(file),
      descriptor_(retry([&] { return ::open(file.c_str(), flags_of(mode) | O_CLOEXEC, 0666); })) {
  if (descriptor_ < 0) fail(file, mode == Mode::create ? "create" : "open", errno);
}

FileDescriptor::~FileDescriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FileDescriptor::cut(std::int64_t bytes) const {
  if (retry([&] { return ::ftruncate(descriptor_, bytes); }) != 0) fail(file_, "cut", errno);
}

std::int64_t FileDescriptor::size() const {
  struct stat found {};
  if (::fstat(descriptor_, &found) != 0) fail(file_, "examine", errno);
  return found.st_size;
}

bool FileDescriptor::lock() const {
  return ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

void FileDescriptor::read(std::int64_t offset, std::span<std::byte> data) const {
  while (!data.empty()) {
    const auto count = retry([&] { return ::pread(descriptor_, data.data(), data.size(), offset); });
    if (count < 0) fail(file_, "read", errno);
    if (count == 0)
      throw Error(Status::file_failure, fmt::format("{}: ends before byte {}", file_.string(), offset + 1));
    data = data.subspan(static_cast<std::size_t>(count));
    offset += count;
  }
}

void FileDescriptor::write(std::int64_t offset, std::span<const std::byte> data) const {
  while (!data.empty()) {
    const auto count = retry([&] { return ::pwrite(descriptor_, data.data(), data.size(), offset); });
    if (count <= 0) fail(file_, "write", count < 0 ? errno : ENOSPC);
    data = data.subspan(static_cast<std::size_t>(count));
    offset += count;
  }
}

void FileDescriptor::write(std::int64_t offset, std::span<const std::span<const std::byte>> pieces) const {
  std::array<iovec, 1024> together;  // IOV_MAX of Linux
  while (!pieces.empty()) {
    const std::size_t count = std::min(pieces.size(), together.size());
    std::transform(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(count), together.begin(),
                   [](std::span<const std::byte> piece) {
                     return iovec{const_cast<std::byte*>(piece.data()), piece.size()};
                   });
    auto written =
        retry([&] { return ::pwritev(descriptor_, together.data(), static_cast<int>(count), offset); });
    if (written <= 0) fail(file_, "write", written < 0 ? errno : ENOSPC);
    offset += written;
    while (!pieces.empty() && written >= std::ssize(pieces.front())) {
      written -= std::ssize(pieces.front());
      pieces = pieces.subspan(1);
    }
    if (written == 0) continue;  // else the system stopped within a piece
    const auto rest = pieces.front().subspan(static_cast<std::size_t>(written));
    write(offset, rest);
    offset += std::ssize(rest);
    pieces = pieces.subspan(1);
  }
}

void FileDescriptor::reserve(std::int64_t bytes) const {
  int error = 0;
  do error = ::posix_fallocate(descriptor_, 0, bytes);
  while (error == EINTR);
  if (error != 0) fail(file_, fmt::format("reserve {} bytes", bytes).c_str(), error);
}

void FileDescriptor::flush() const {
  // EINVAL means that the file system cannot flush directories, and has nothing to flush there.
  if (retry([&] { return ::fsync(descriptor_); }) != 0 && errno != EINVAL) fail(file_, "flush", errno);
}

void FileDescriptor::begin_flush(std::int64_t offset, std::int64_t bytes) const {
  ::sync_file_range(descriptor_, offset, bytes, SYNC_FILE_RANGE_WRITE);  // flush() tells of failures
}

void FileDescriptor::flush_file_system() const {
  if (retry([&] { return ::syncfs(descriptor_); }) == 0) return;
  if (errno != ENOSYS && errno != EINVAL) fail(file_, "flush the file system of", errno);
  ::sync();  // a kernel that cannot flush one file system flushes all
}

void FileDescriptor::close() {
  // Linux has closed the descriptor even where it reports EINTR.
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail(file_, "close", errno);
}

std::filesystem::path temporary_name(const std::filesystem::path& file) { return file.string() + ".tmp"; }

std::filesystem::path own_temporary_name(const std::filesystem::path& file) {
  return temporary_name(fmt::format("{}.{}.{}", file.string(), host_name(), ::getpid()));
}

void publish(const std::filesystem::path& temporary, const std::filesystem::path& file, Flush flush) {
  if (std::rename(temporary.c_str(), file.c_str()) != 0) fail(file, "rename", errno);
  if (flush == Flush::now) FileDescriptor(directory_of(file), FileDescriptor::Mode::read).flush();
}

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
    if (links == max_links) fail(file, "follow", ELOOP);
    target = directory_of(target) / std::filesystem::read_symlink(target);
  }
  std::error_code unseen;
  if (target != file && !std::filesystem::is_directory(directory_of(target), unseen))
    throw Error(Status::file_failure, fmt::format("{}: is a link to {}, whose directory does not exist",
                                                  file.string(), target.string()));
  return target;
}

void write_text(const std::filesystem::path& file, const std::string& text, Flush flush) {
  if (is_stream(file)) return write_stream(file, text);
  const std::filesystem::path target = followed(file);
  replace(target, text, temporary_name(target), flush);
}

void write_cache(const std::filesystem::path& file, const std::string& text) {
  const std::filesystem::path target = followed(file);
  replace(target, text, own_temporary_name(target), Flush::later);
}

std::string read_text(const std::filesystem::path& file) {
  if (is_stream(file)) return read_stream(file);
  const FileDescriptor input(file, FileDescriptor::Mode::read);
  std::string text(static_cast<std::size_t>(input.size()), '\0');
  input.read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

void UnflushedFiles::add(const std::filesystem::path& file) {
  if (files_.empty()) since_ = std::chrono::steady_clock::now();
  files_.push_back(file);
}

void UnflushedFiles::flush() {
  constexpr std::size_t few = 8;
  const std::set<std::filesystem::path> files(files_.begin(), files_.end());
  std::set<std::filesystem::path> directories;
  for (const auto& file : files) {
    directories.insert(directory_of(file));
    std::error_code gone;
    if (files.size() <= few && std::filesystem::exists(file, gone))
      FileDescriptor(file, FileDescriptor::Mode::read).flush();
  }
  for (const auto& directory : directories) {
    const FileDescriptor entry(directory, FileDescriptor::Mode::read);
    if (files.size() <= few)
      entry.flush();
    else
      entry.flush_file_system();
  }
  files_.clear();
}

void UnflushedFiles::flush_if_due() {
  constexpr std::chrono::seconds longest(5);
  if (!files_.empty() && std::chrono::steady_clock::now() - since_ > longest) flush();
}

}  // namespace spsolve
