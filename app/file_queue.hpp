// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <memory>

#include "app/clock.hpp"
#include "solver/backend.hpp"

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

  /// Copies of the state that are needed at a time.
  static constexpr int copies = 2;

  /// Waits until files of at most one step other than `step` are under way. So no more than `copies` are in
  /// use. Call before copying the state of `step`.
  void make_room(std::int64_t step);
  /// Writes a file of `step` by write(values).
  void add(std::int64_t step, std::shared_ptr<HostCopy> values,
           std::function<void(const Field& values)> write, Done done);
  /// Waits until all files have ended, then throws what was thrown first.
  void finish();

  /// Whether a file under way has failed, as far as this rank knows.
  bool failed() const { return progress_->failures > 0; }
  /// A guess of what finish() would take, and one more file.
  double seconds_to_finish() const;

 private:
  struct File {
    std::int64_t step;
    std::shared_ptr<HostCopy> values;
    std::shared_future<void> written;
    Done done;
    Clock::time_point begin;
  };
  struct Progress {
    std::atomic<int> failures = 0;
    std::atomic<double> longest_seconds = 0;
  };
  void take_oldest();

  bool background_;
  std::deque<File> files_;
  std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();
};

}  // namespace spsolve
