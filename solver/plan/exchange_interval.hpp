// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "halo/decomposition.hpp"
#include "solver/plan/model.hpp"

namespace spsolve {

/// Holds the modelled times, on the largest block, of launches that share one exchange of halos.
struct SharedExchange {
  int launches = 1;
  double launch_seconds = 0;   // one launch that computes its block alone, while messages travel
  double compute_seconds = 0;  // all launches, with points of other blocks, and copies of the ends of rows
  double received_bytes = 0;   // from other ranks, as many as are sent

  /// Returns the seconds per launch if messages travel for `travel` seconds, of which launches hide a part.
  /// `overhead` is the additional time of a launch with an exchange.
  double seconds_per_launch(double travel, double overhead) const {
    return (compute_seconds + std::max(0.0, travel - launch_seconds) + overhead) / launches;
  }
};

/// Returns the modelled times of `launches` launches of a candidate that share one exchange.
SharedExchange share_exchange(const Problem& problem, const Decomposition& decomposition,
                              const Candidate& candidate, int launches);

/// Returns how many launches should share one exchange of halos (Block), which is the number with the fewest
/// seconds per launch. Every launch but the last before an exchange computes points of other blocks as well;
/// the exchange takes the time that computing does not hide. Returns 1 on CPUs, where memory costs more than
/// messages, and for methods that exchange in every launch.
int launches_per_exchange(const Problem& problem, const Decomposition& decomposition,
                          const Candidate& candidate, bool gpu);

}  // namespace spsolve
