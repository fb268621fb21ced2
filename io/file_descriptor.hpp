// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

namespace spsolve {

/// Owns an open file, for reading and writing at byte offsets. Every failure throws Error(file_failure) with
/// the file and the system's reason.
class FileDescriptor {
 public:
  enum class Mode { read, modify, create };

  FileDescriptor(const std::filesystem::path& file, Mode mode);
  /// Owns `descriptor`, which is open; `file` is its name in messages.
  FileDescriptor(std::filesystem::path file, int descriptor)
      : file_(std::move(file)), descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept
      : file_(std::move(other.file_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor();

  std::int64_t size() const;
  /// Locks the file or directory for this process as long as it is open. Returns false if another process
  /// holds the lock. On file systems without locks every process succeeds.
  bool lock() const;
  /// Reads data.size() bytes from `offset` on; a file that ends earlier is a failure.
  void read(std::int64_t offset, std::span<std::byte> data) const;
  void write(std::int64_t offset, std::span<const std::byte> data) const;
  /// Writes several pieces one after the other.
  void write(std::int64_t offset, std::span<const std::span<const std::byte>> pieces) const;
  /// Truncates the file after `bytes` bytes.
  void cut(std::int64_t bytes) const;
  /// Allocates the disk space of the first `bytes` bytes now, so that a full disk is found before anything is
  /// written.
  void reserve(std::int64_t bytes) const;
  /// Waits until all data written to the file is on disk.
  void flush() const;
  /// Starts to bring bytes that were written to disk, so that flush() has less to wait for. File systems that
  /// cannot do this start when they like.
  void begin_flush(std::int64_t offset, std::int64_t bytes) const;
  /// Waits until all data written to any file of the same file system is on disk.
  void flush_file_system() const;
  /// Closes now: network file systems report failed writes here.
  void close();

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
};

}  // namespace spsolve
