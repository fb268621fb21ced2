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

/// Writes files one after the other, in the order they are given, while the run goes on: on a thread of their
/// own, or at once. What is said of ranks holds if all of them give the same files at the same steps, and the
/// work on a file fails on all of them alike.
class FileQueue {
 public:
  /// What the thread that gives files is told of each, in their order: null, or why it was not written. What
  /// it throws then passes through make_room(), add() and finish(), on all ranks.
  using Done = std::function<void(const std::exception_ptr& failure)>;

  explicit FileQueue(bool background) : background_(background) {}
  /// Waits for all files; failures that nobody has heard of yet are told, and what that throws is dropped.
  ~FileQueue();

  /// Files that are under way at a time; one of them may be a checkpoint.
  static constexpr int most_files = background_copies;
  enum class Kind { snapshot, checkpoint };

  /// Waits until there is room for one more file of this kind. Call before copying the state.
  void make_room(Kind kind);
  /// Writes a file by write(values), the values of every copy in their order.
  using Write = std::function<void(const std::vector<const Field*>& values)>;
  void add(Kind kind, Copies copies, Write write, Done done);
  /// Waits until all files have ended, then throws what was thrown first.
  void finish();

  /// Returns true if a file under way has failed, as far as this rank knows.
  bool failed() const { return progress_->failures > 0; }
  /// Returns a guess of what finish() would take, and one more file of so many bytes of this rank, as those
  /// under way have at most: at the worst rate so far, or a nominal one while all files were small.
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
