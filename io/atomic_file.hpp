// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// Files that appear under their final name only when they are whole. Every failure throws
/// Error(file_failure) with the file and the system's reason.
///
/// A process that dies loses nothing that it has written; a machine that loses power does, unless the system
/// was told to flush it. A checkpoint is flushed before it gets its name, since an older one may be removed
/// once it has it; then its directory is, since otherwise the new name could be lost and the removal not. A
/// file that is written again by whoever goes on from the newest checkpoint (a snapshot, a row of
/// diagnostics) needs to be on disk when the next checkpoint is: UnflushedFiles.
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
  /// Cuts the file off after so many bytes.
  void cut(std::int64_t bytes) const;
  /// Takes the disk space of the first `bytes` bytes now, so that a full disk is found before anything is
  /// written.
  void reserve(std::int64_t bytes) const;
  /// Waits until all that was written is on disk.
  void flush() const;
  /// The same of all files of its file system.
  void flush_file_system() const;
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

/// Whether what is written is flushed at once, or later by somebody else.
enum class Flush { now, later };

/// Gives a file that is whole its final name, in place of any file of that name, and waits until the
/// directory is on disk too, unless that is for later.
void publish(const std::filesystem::path& temporary, const std::filesystem::path& file,
             Flush flush = Flush::now);

/// Whether a path stands for something that takes or gives bytes one after the other and must not be replaced
/// by a file: `-`, the standard output or input; an open descriptor (/dev/stdout, /dev/fd/3); a device, a
/// named pipe, a socket.
bool is_stream(const std::filesystem::path& path);
/// Whether that is the standard output.
bool is_standard_output(const std::filesystem::path& path);

/// The file at the end of the links that a path may be. It need not exist, but its directory must: a link
/// that leads nowhere is an Error that names both.
std::filesystem::path followed(const std::filesystem::path& file);

/// Writes a small text file as a whole. Links are followed, and streams written to.
void write_text(const std::filesystem::path& file, const std::string& text, Flush flush = Flush::now);
/// The same for a cache, which several processes may write at a time, and which may be lost.
void write_cache(const std::filesystem::path& file, const std::string& text);

/// Reads a whole text file, or a stream to its end.
std::string read_text(const std::filesystem::path& file);

/// Files that are whole under their names, and may not be on disk yet. Many small ones are flushed by one
/// call for all of their file system, which takes as long as one of them would.
class UnflushedFiles {
 public:
  void add(const std::filesystem::path& file);
  /// Returns when all of them are on disk, with their names. Those that are gone need not be.
  void flush();
  /// The same if the oldest has waited for a few seconds: no more than these are lost with a machine.
  void flush_if_due();

 private:
  std::vector<std::filesystem::path> files_;
  std::chrono::steady_clock::time_point since_{};
};

}  // namespace spsolve
