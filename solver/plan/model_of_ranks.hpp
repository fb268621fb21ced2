// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "halo/decomposition.hpp"
#include "solver/plan/model.hpp"

namespace spsolve {

/// Holds the modelled times of a candidate on several ranks; the rank with the largest block counts.
struct Scaling {
  Index3 rank_grid, block{};
  int exchange_every = 1;       // launches per exchange
  double sent_bytes = 0;        // by one rank, per launch
  double exchange_seconds = 0;  // until messages have arrived
  double launch_seconds = 0;    // mean of launches with an exchange and those without
  bool hidden = true;           // messages arrive while the interior is computed
  double rate = 0;              // points x steps per second of all ranks together
};

/// Returns the scaling of a candidate for the whole problem on the rank grid that runs take. Throws
/// Error(invalid_input) if the grid cannot be cut into this number of blocks.
Scaling scale(const Problem& problem, const DeviceModel& device, const Candidate& candidate, int ranks);

}  // namespace spsolve
