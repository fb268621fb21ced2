// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "halo/decomposition.hpp"
#include "solver/model.hpp"

namespace spsolve {

/// How many launches should share one exchange of halos (Block): the fewest seconds per launch, where every
/// launch but the last before an exchange computes points of other blocks as well, and an exchange takes time
/// that computing does not hide. 1 on CPUs, where memory is dearer than messages, and for methods that
/// exchange in every launch.
int launches_per_exchange(const Problem& problem, const Decomposition& decomposition,
                          const Candidate& candidate, bool gpu);

}  // namespace spsolve
