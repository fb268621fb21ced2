// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <semaphore>
#include <vector>

#include "app/setup/clock.hpp"
#include "app/setup/setup.hpp"
#include "io/file_turn.hpp"
#include "solver/evolve.hpp"

namespace spsolve {

/// Holds communicators of their own for files that are written at the same time, by FileTurn::slot.
using FileCommunicators = std::deque<DuplicateCommunicator>;

/// Says how many files may be in progress, and whether the copies that they are written from stay on the
/// device.
struct FilesAtATime {
  int files = 1;
  bool on_device = false;
};

/// Returns one file if the run waits for its files, else as many as keep the threads busy, unless memory for
/// copies of the block is short. The result is the same on all ranks. Collective.
FilesAtATime files_at_a_time(const Communicator& communicator, const Setup& setup, const Block& block);

/// Holds the seconds that the files of a run took, and that the run waited for them.
struct FileTimes {
  int files = 0;                                       // files that have ended
  std::array<double, file_part_names.size()> parts{};  // seconds of all files, by FilePart
  double waited_during_run = 0, waited_at_end = 0;     // by the thread that adds files
};

/// Writes files, each on a thread of its own during the run, or at once. They end in the order in which they
/// are added. Statements about all ranks hold if all ranks add the same files at the same steps, and if the
/// work on a file fails on all ranks alike.
class FileQueue {
 public:
  /// Is called for each file, in their order, on the thread that adds files: with null, or with the reason
  /// why the file was not written. Its exceptions pass through make_room(), add() and finish(), on all ranks.
  using Done = std::function<void(const std::exception_ptr& failure)>;

  /// At most `files` files are in progress; one of them may be a checkpoint.
  explicit FileQueue(bool background, int files = background_copies);
  /// Waits for all files; failures that were not reported yet are passed to Done, whose exceptions are
  /// dropped.
  ~FileQueue();

  enum class FileKind { snapshot, checkpoint };

  /// Waits until there is room for one more file of this kind. Must be called before the state is copied.
  void make_room(FileKind kind);
  /// Writes a file by write(values, turn); `values` are those of every copy, in their order. `turn` lasts as
  /// long as the call.
  using Write = std::function<void(const std::vector<ReadableField>& values, const FileTurn& turn)>;
  void add(FileKind kind, Copies copies, Write write, Done done);
  /// Waits until all files have ended, then throws the first exception.
  void finish();

  /// Returns true if a file in progress has failed, as far as this rank knows.
  bool failed() const { return progress_->failures > 0; }
  FileTimes times() const;
  /// Returns an estimate of the seconds that finish() would take with one more file of `bytes` bytes of this
  /// rank, the largest size of those in progress. It uses the worst rate so far, or a nominal rate while all
  /// files were small.
  double seconds_to_finish(double bytes) const;

 private:
  struct File {
    FileKind kind;
    Copies copies;
    std::shared_future<void> written;
    Done done;
    Clock::time_point begin;
  };
  struct FileProgress {
    explicit FileProgress(int threads) : workers(threads) {}

    std::counting_semaphore<> workers;
    std::atomic<int> failures = 0;
    std::atomic<double> seconds_per_byte = 5e-9;  // 200 MB/s, as a rank's share of a file system may be
    bool rate_is_known = false;                   // set by the files in their order
    Clock::time_point last_end{};                 // when the file before ended
    std::mutex mutex;
    std::array<double, file_part_names.size()> parts{};  // seconds; guarded by `mutex`
  };
  void take_oldest();
  void take_all(double& waited);

  bool background_;
  int max_files_, threads_, slot_ = 0;
  FileTimes times_;  // except for its parts, which threads add to `progress_`
  std::deque<File> files_;
  std::shared_ptr<FileProgress> progress_;
};

}  // namespace spsolve
