// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace spsolve {

/// Describes how often launches must end. A depth that does not divide `every` leaves a remainder of single
/// steps.
struct EventPattern {
  std::int64_t every = 0;   // steps between events; 0: never
  bool last_alone = false;  // launches end one step before an event, too (diagnostics)
  double cuts = 0;          // events per step besides multiples of `every`; each interrupts a launch at worst
  std::int64_t steps = 0;   // the length of the run; 0: unknown
  std::int64_t checkpoints = 0;  // steps between checkpoints; 0: never
};

/// Returns the length of a run, at least 1; a run of unknown length counts as one step.
inline std::int64_t steps_of(const EventPattern& events) { return std::max<std::int64_t>(1, events.steps); }

/// Returns the mean over the steps of a period of events, of a cost per step. Each step of a whole launch of
/// `fuse` steps costs `fused`. The remainder, and a last step alone, cost `rest(steps)` together.
template <class Rest>
double mean_of_period(const EventPattern& events, int fuse, double fused, Rest&& rest) {
  if (events.every == 0) return fused;
  const std::int64_t together = events.every - events.last_alone, left = together % fuse;
  return (static_cast<double>(together - left) * fused + (left > 0 ? rest(static_cast<int>(left)) : 0.0) +
          (events.last_alone ? rest(1) : 0.0)) /
         static_cast<double>(events.every);
}

}  // namespace spsolve
