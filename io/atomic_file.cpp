// SPDX-License-Identifier: Apache-2.0
#include "io/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

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

}  // namespace

FileDescriptor::FileDescriptor(const std::filesystem::path& file, Mode mode)
    : file_(file),
      descriptor_(retry([&] { return ::open(file.c_str(), flags_of(mode) | O_CLOEXEC, 0666); })) {
  if (descriptor_ < 0) fail(file, mode == Mode::create ? "create" : "open", errno);
}

FileDescriptor::~FileDescriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
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

void FileDescriptor::reserve(std::int64_t bytes) const {
  int error = 0;
  do error = ::posix_fallocate(descriptor_, 0, bytes);
  while (error == EINTR);
  if (error != 0) fail(file_, fmt::format("reserve {} bytes", bytes).c_str(), error);
}

void FileDescriptor::flush() const {
  // EINVAL: a file system that cannot flush directories, and has nothing to flush there.
  if (retry([&] { return ::fsync(descriptor_); }) != 0 && errno != EINVAL) fail(file_, "flush", errno);
}

void FileDescriptor::close() {
  // Linux has closed the descriptor even where it reports EINTR.
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail(file_, "close", errno);
}

std::filesystem::path temporary_name(const std::filesystem::path& file) { return file.string() + ".tmp"; }

std::filesystem::path own_temporary_name(const std::filesystem::path& file) {
  return temporary_name(fmt::format("{}.{}.{}", file.string(), host_name(), ::getpid()));
}

void publish(const std::filesystem::path& temporary, const std::filesystem::path& file) {
  if (std::rename(temporary.c_str(), file.c_str()) != 0) fail(file, "rename", errno);
  const auto directory = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  const FileDescriptor entry(directory, FileDescriptor::Mode::read);
  entry.flush();
}

void write_text(const std::filesystem::path& file, const std::string& text,
                const std::filesystem::path& temporary) {
  try {
    FileDescriptor output(temporary, FileDescriptor::Mode::create);
    output.write(0, std::as_bytes(std::span(text)));
    output.flush();
    output.close();
    publish(temporary, file);
  } catch (const Error&) {
    ::unlink(temporary.c_str());
    throw;
  }
}

std::string read_text(const std::filesystem::path& file) {
  const FileDescriptor input(file, FileDescriptor::Mode::read);
  std::string text(static_cast<std::size_t>(input.size()), '\0');
  input.read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace spsolve
