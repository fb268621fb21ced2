// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

/// Files that appear under their final name only when they are whole and on disk. Every failure throws
/// Error(file_failure) with the file and the system's reason.
namespace spsolve {

/// Owns an open file, for reading and writing at byte offsets.
class FileDescriptor {
 public:
  enum class Mode { read, modify, create };

  FileDescriptor(const std::filesystem::path& file, Mode mode);
  FileDescriptor(FileDescriptor&& other) noexcept
      : file_(std::move(other.file_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor();

  std::int64_t size() const;
  /// Takes the file, or directory, for this process as long as it is open. False where another process has
  /// it; file systems without locks let everybody have it.
  bool lock() const;
  /// Reads data.size() bytes from `offset` on; a file that ends before is a failure.
  void read(std::int64_t offset, std::span<std::byte> data) const;
  void write(std::int64_t offset, std::span<const std::byte> data) const;
  /// Takes the disk space of the first `bytes` bytes now, so that a full disk is found before anything is
  /// written.
  void reserve(std::int64_t bytes) const;
  /// Waits until all that was written is on disk.
  void flush() const;
  /// Closes now: network file systems report failed writes here.
  void close();

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
};

/// The name that `file` is written under until it is whole; what a killed run leaves there is overwritten.
std::filesystem::path temporary_name(const std::filesystem::path& file);

/// The same for files that several processes may write at a time, such as caches: no other process has it.
std::filesystem::path own_temporary_name(const std::filesystem::path& file);

/// Gives a file that is whole its final name, in place of any file of that name, and waits until the
/// directory is on disk too.
void publish(const std::filesystem::path& temporary, const std::filesystem::path& file);

/// Writes a small text file in this way.
void write_text(const std::filesystem::path& file, const std::string& text,
                const std::filesystem::path& temporary);
inline void write_text(const std::filesystem::path& file, const std::string& text) {
  write_text(file, text, temporary_name(file));
}

/// Reads a whole text file.
std::string read_text(const std::filesystem::path& file);

}  // namespace spsolve
