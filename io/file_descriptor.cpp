// SPDX-License-Identifier: Apache-2.0
#include "io/file_descriptor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "io/system_call.hpp"
#include "kernels/error.hpp"

namespace spsolve {
namespace {

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
  if (descriptor_ < 0) fail_at(file, mode == Mode::create ? "create" : "open", errno);
}

FileDescriptor::~FileDescriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FileDescriptor::cut(std::int64_t bytes) const {
  if (retry([&] { return ::ftruncate(descriptor_, bytes); }) != 0) fail_at(file_, "cut", errno);
}

std::int64_t FileDescriptor::size() const {
  struct stat found {};
  if (::fstat(descriptor_, &found) != 0) fail_at(file_, "examine", errno);
  return found.st_size;
}

bool FileDescriptor::lock() const {
  return ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

void FileDescriptor::read(std::int64_t offset, std::span<std::byte> data) const {
  while (!data.empty()) {
    const auto count = retry([&] { return ::pread(descriptor_, data.data(), data.size(), offset); });
    if (count < 0) fail_at(file_, "read", errno);
    if (count == 0)
      throw Error(Status::file_failure, fmt::format("{}: ends before byte {}", file_.string(), offset + 1));
    data = data.subspan(static_cast<std::size_t>(count));
    offset += count;
  }
}

void FileDescriptor::write(std::int64_t offset, std::span<const std::byte> data) const {
  while (!data.empty()) {
    const auto count = retry([&] { return ::pwrite(descriptor_, data.data(), data.size(), offset); });
    if (count <= 0) fail_at(file_, "write", count < 0 ? errno : ENOSPC);
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
    if (written <= 0) fail_at(file_, "write", written < 0 ? errno : ENOSPC);
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
  // Without this check posix_fallocate() takes all room that is left before it fails, and writes of other
  // files fail meanwhile.
  struct statvfs found {};
  const bool is_full =
      ::fstatvfs(descriptor_, &found) == 0 && found.f_blocks > 0 &&
      static_cast<double>(found.f_bfree) * static_cast<double>(found.f_frsize) < static_cast<double>(bytes);
  int error = is_full ? ENOSPC : EINTR;
  while (error == EINTR) error = ::posix_fallocate(descriptor_, 0, bytes);
  if (error != 0) fail_at(file_, fmt::format("reserve {} bytes", bytes).c_str(), error);
}

void FileDescriptor::flush() const {
  // EINVAL means that the file system cannot flush directories, and has nothing to flush there.
  if (retry([&] { return ::fsync(descriptor_); }) != 0 && errno != EINVAL) fail_at(file_, "flush", errno);
}

void FileDescriptor::begin_flush(std::int64_t offset, std::int64_t bytes) const {
  ::sync_file_range(descriptor_, offset, bytes, SYNC_FILE_RANGE_WRITE);  // flush() tells of failures
}

void FileDescriptor::flush_file_system() const {
  if (retry([&] { return ::syncfs(descriptor_); }) == 0) return;
  if (errno != ENOSYS && errno != EINVAL) fail_at(file_, "flush the file system of", errno);
  ::sync();  // a kernel that cannot flush one file system flushes all
}

void FileDescriptor::close() {
  // Linux has closed the descriptor even where it reports EINTR.
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail_at(file_, "close", errno);
}

}  // namespace spsolve
