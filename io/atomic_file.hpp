// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
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
