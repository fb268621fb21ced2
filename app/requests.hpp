// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>

#include "app/signals.hpp"
#include "halo/communicator.hpp"
#include "io/config.hpp"
#include "solver/evolve.hpp"

namespace spsolve {

/// Turns signals and wall time into requests that all ranks see at the same step (DESIGN 2): a signal that
/// reached any rank counts; the clock is that of rank 0. Ranks confer every few launches only, about every
/// half second.
class Requests {
 public:
  Requests(const Communicator& communicator, Signals& signals, std::optional<double> checkpoint_minutes,
           std::optional<double> wall_limit_minutes);

  /// Call after every launch, on all ranks.
  Request poll();
  /// A checkpoint was written: the time until the next one starts anew.
  void checkpoint_written(double seconds_taken);
  /// Why the last request to stop was made.
  const char* reason() const { return reason_ == by_signal ? "a signal" : "the wall-time limit"; }

 private:
  using Clock = std::chrono::steady_clock;
  enum Reason : int { none, by_signal, by_limit };

  Communicator communicator_;
  Signals* signals_;
  std::optional<double> checkpoint_seconds_, limit_seconds_;
  Clock::time_point started_ = Clock::now(), last_checkpoint_ = started_, last_poll_ = started_;
  int launches_between_polls_ = 1, launches_since_poll_ = 0;
  int reason_ = none;
  double longest_checkpoint_ = 0;  // seconds
};

}  // namespace spsolve
