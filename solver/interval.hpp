// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace spsolve {

/// Describes how often an event happens: at multiples of a number of steps, or at the first step at or after
/// each multiple of a time. Step 0 counts.
struct Interval {
  std::int64_t every = 0;  // steps; 0: never, or by time
  double every_time = 0;   // 0: by steps
  double dt = 1;           // time of a step

  bool never() const { return every == 0 && every_time == 0; }
  bool due(std::int64_t step) const {
    if (never()) return false;
    return step == 0 || (every > 0 ? step % every == 0 : count(step) > count(step - 1));
  }
  /// Returns how many of the steps from 0 to `last` are due.
  std::int64_t due_until(std::int64_t last) const {
    if (never()) return 0;
    if (every > 0) return last / every + 1;
    return static_cast<std::int64_t>(std::min(count(last), static_cast<double>(last))) + 1;
  }
  /// Returns the first step after `step` at which the event is due.
  std::int64_t following(std::int64_t step) const {
    if (never()) return std::numeric_limits<std::int64_t>::max();
    if (every > 0) return (step / every + 1) * every;
    const double steps = (count(step) + 1) * (every_time / dt);
    if (!(steps < 1e18)) return std::numeric_limits<std::int64_t>::max();
    std::int64_t next = static_cast<std::int64_t>(steps);
    while (next > step + 1 && count(next - 1) > count(step)) --next;
    while (next <= step || count(next) == count(step)) ++next;
    return next;
  }

 private:
  /// Returns the number of multiples of the time up to a step. A quotient that is whole up to its rounding is
  /// meant to be whole.
  double count(std::int64_t step) const {
    const double quotient = static_cast<double>(step) * dt / every_time;
    const double rounding = 4 * std::numeric_limits<double>::epsilon() * quotient;
    return std::floor(quotient + rounding);
  }
};

}  // namespace spsolve
