// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "app/run/file_queue.hpp"
#include "app/run/signals.hpp"
#include "halo/communicator.hpp"
#include "io/input/config.hpp"
#include "solver/evolve.hpp"

namespace spsolve {

/// Turns signals and wall time into requests that all ranks see at the same step. A signal that reached any
/// rank counts; the clock is that of rank 0. Ranks confer only every few launches, about every half second.
class Requests {
 public:
  /// The time limit counts from `started`, before any file was read or kernel compiled. The checkpoint before
  /// the limit takes `checkpoint_bytes` of this rank.
  Requests(const Communicator& communicator, Signals& signals, Clock::time_point started,
           std::optional<double> checkpoint_minutes, std::optional<double> wall_limit_minutes,
           double checkpoint_bytes);

  /// Must be called after every launch, on all ranks; `files` are those in progress.
  Request poll(const FileQueue& files);
  /// Returns true if any rank knew at the last poll of a file in progress that has failed.
  bool file_failed() const { return file_failed_; }
  /// Restarts the time until the next checkpoint.
  void checkpoint_begun() { last_checkpoint_ = Clock::now(); }
  /// Returns the reason of the last request to stop.
  const char* reason() const { return reason_ == by_signal ? "a signal" : "the wall-time limit"; }

 private:
  enum Reason : int { none, by_signal, by_limit };

  Communicator communicator_;
  Signals* signals_;
  std::optional<double> checkpoint_seconds_, limit_seconds_;
  double checkpoint_bytes_;
  Clock::time_point started_, last_checkpoint_ = Clock::now(), last_poll_ = last_checkpoint_;
  int launches_between_polls_ = 1, launches_since_poll_ = 0;
  int reason_ = none;
  bool file_failed_ = false;
};

}  // namespace spsolve
