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

/// The files written here appear under their final name only when they are complete. Every failure throws
/// Error(file_failure) with the file and the system's reason.
///
/// A process that dies loses nothing that it has written. A machine that loses power loses all data that was
/// not flushed. A checkpoint is flushed before it gets its name, because older checkpoints may be removed
/// after that. Its directory is flushed next, because otherwise the new name could be lost although the
/// removals are kept. Snapshots and rows of diagnostics are written again by a run that continues from the
/// newest checkpoint. They must be on disk only when the next checkpoint is (UnflushedFiles).
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

/// Returns the name under which `file` is written until it is complete; a file that a killed run left there
/// is overwritten.
std::filesystem::path temporary_name(const std::filesystem::path& file);

/// Returns a temporary name that no other process has, for files that several processes may write at a time,
/// such as caches.
std::filesystem::path own_temporary_name(const std::filesystem::path& file);

/// Says whether written data is flushed at once, or later by the caller.
enum class Flush { now, later };

/// Gives a complete file its final name, in place of any file of that name. Waits until the directory is on
/// disk too, unless `flush` is Flush::later.
void publish(const std::filesystem::path& temporary, const std::filesystem::path& file,
             Flush flush = Flush::now);

/// Returns true if a path names a stream, which must not be replaced by a file: `-` (standard output or
/// input), an open descriptor (/dev/stdout, /dev/fd/3), a device, a named pipe or a socket.
bool is_stream(const std::filesystem::path& path);
/// Returns true if the path names the standard output.
bool is_standard_output(const std::filesystem::path& path);

/// Returns the file that a path leads to when all symbolic links are followed. The file need not exist, but
/// its directory must: otherwise an Error names the link and its target.
std::filesystem::path followed(const std::filesystem::path& file);

/// Writes a small text file as a whole. Follows links. Writes to a stream directly.
void write_text(const std::filesystem::path& file, const std::string& text, Flush flush = Flush::now);
/// Writes a small text file as a cache: several processes may write it at a time, and it may be lost.
void write_cache(const std::filesystem::path& file, const std::string& text);

/// Reads a whole text file, or a stream to its end.
std::string read_text(const std::filesystem::path& file);

/// Keeps a list of files that are complete under their names but may not be on disk yet. Many small files are
/// flushed by one call for their whole file system, which takes as long as flushing one of them.
class UnflushedFiles {
 public:
  void add(const std::filesystem::path& file);
  /// Returns when all files are on disk under their names. Files that no longer exist are ignored.
  void flush();
  /// Calls flush() if the oldest file has waited for a few seconds. A machine that fails loses only the files
  /// of these seconds.
  void flush_if_due();

 private:
  std::vector<std::filesystem::path> files_;
  std::chrono::steady_clock::time_point since_{};
};

}  // namespace spsolve
