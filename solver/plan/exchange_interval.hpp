// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "halo/decomposition.hpp"
#include "solver/plan/model.hpp"

namespace spsolve {

/// What launches that share one exchange of halos take on the largest block, in the model.
struct SharedExchange {
  int launches = 1;
  double launch_seconds = 0;   // of one that computes its block alone: messages travel meanwhile
  double compute_seconds = 0;  // of all, with points of other blocks, and copies of the ends of rows
  double received_bytes = 0;   // from other ranks, as many as are sent

  /// Messages under way for `travel` seconds wait for no more than what launches do not hide; `overhead` is
  /// what a launch with an exchange takes beyond one without.
  double seconds_per_launch(double travel, double overhead) const {
    return (compute_seconds + std::max(0.0, travel - launch_seconds) + overhead) / launches;
  }
};

SharedExchange share_exchange(const Problem& problem, const Decomposition& decomposition,
                              const Candidate& candidate, int launches);

/// How many launches should share one exchange of halos (Block): the fewest seconds per launch, where every
/// launch but the last before an exchange computes points of other blocks as well, and an exchange takes time
/// that computing does not hide. 1 on CPUs, where memory is dearer than messages, and for methods that
/// exchange in every launch.
int launches_per_exchange(const Problem& problem, const Decomposition& decomposition,
                          const Candidate& candidate, bool gpu);

}  // namespace spsolve
