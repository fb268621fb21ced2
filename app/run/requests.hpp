// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "app/run/file_queue.hpp"
#include "app/run/signals.hpp"
#include "halo/communicator.hpp"
#include "io/input/config.hpp"
#include "solver/evolve.hpp"

namespace spsolve {

/// Turns signals and wall time into requests that all ranks see at the same step: a signal that
/// reached any rank counts; the clock is that of rank 0. Ranks confer every few launches only, about every
/// half second.
class Requests {
 public:
  /// The limit counts from `started`, before anything was read or compiled; the checkpoint before it takes
  /// `checkpoint_bytes` of this rank.
  Requests(const Communicator& communicator, Signals& signals, Clock::time_point started,
           std::optional<double> checkpoint_minutes, std::optional<double> wall_limit_minutes,
           double checkpoint_bytes);

  /// Call after every launch, on all ranks; `files` are those under way.
  Request poll(const FileQueue& files);
  /// Returns true if any rank knew at the last poll of a file under way that has failed.
  bool file_failed() const { return file_failed_; }
  /// The time until the next checkpoint starts anew.
  void checkpoint_begun() { last_checkpoint_ = Clock::now(); }
  /// Why the last request to stop was made.
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
