// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <vector>

#include "app/setup/clock.hpp"
#include "app/setup/setup.hpp"
#include "solver/evolve.hpp"

namespace spsolve {

/// Writes files one after the other, in the order in which they are added, on its own thread during the run,
/// or at once. Statements about all ranks hold if all ranks add the same files at the same steps, and if the
/// work on a file fails on all ranks alike.
class FileQueue {
 public:
  /// Is called for each file, in their order, on the thread that adds files: with null, or with the reason
  /// why the file was not written. Its exceptions pass through make_room(), add() and finish(), on all ranks.
  using Done = std::function<void(const std::exception_ptr& failure)>;

  explicit FileQueue(bool background) : background_(background) {}
  /// Waits for all files; failures that were not reported yet are passed to Done, whose exceptions are
  /// dropped.
  ~FileQueue();

  /// Limits the files in progress; one of them may be a checkpoint.
  static constexpr int max_files = background_copies;
  enum class Kind { snapshot, checkpoint };

  /// Waits until there is room for one more file of this kind. Must be called before the state is copied.
  void make_room(Kind kind);
  /// Writes a file by write(values); `values` are those of every copy, in their order.
  using Write = std::function<void(const std::vector<const Field*>& values)>;
  void add(Kind kind, Copies copies, Write write, Done done);
  /// Waits until all files have ended, then throws the first exception.
  void finish();

  /// Returns true if a file in progress has failed, as far as this rank knows.
  bool failed() const { return progress_->failures > 0; }
  /// Returns an estimate of the seconds that finish() would take with one more file of `bytes` bytes of this
  /// rank, the largest size of those in progress. It uses the worst rate so far, or a nominal rate while all
  /// files were small.
  double seconds_to_finish(double bytes) const;

 private:
  struct File {
    Kind kind;
    Copies copies;
    std::shared_future<void> written;
    Done done;
    Clock::time_point begin;
  };
  struct Progress {
    std::atomic<int> failures = 0;
    std::atomic<double> seconds_per_byte = 5e-9;  // 200 MB/s, as a rank's share of a file system may be
    bool rate_is_known = false;                   // of the work on files, one after the other
  };
  void take_oldest();

  bool background_;
  std::deque<File> files_;
  std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();
};

}  // namespace spsolve
