// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/setup/device.hpp"
#include "solver/plan/model.hpp"

namespace spsolve {

/// Describes how the ranks share a grid, and how often they exchange halos.
struct Distribution {
  Decomposition decomposition;
  int exchange_every = 1;  // launches that share an exchange of halos
};

/// Returns one block for each of `ranks` ranks, as `parallel` asks for. Otherwise blocks have the least
/// surface, weighted by the cost of cutting an axis on these devices, and the exchange interval is that of
/// the model. The result is the same on every rank. Throws Error(invalid_input) if this is not one block per
/// rank. Collective.
Distribution distribute(const Communicator& communicator, int ranks, const ParallelConfig& parallel,
                        const Problem& problem, const Candidate& candidate, const DeviceChoice& device);

/// Returns distribute() for the ranks of the communicator. Throws Error(invalid_input) if blocks are in host
/// memory and this machine has too little free memory for its ranks; blocks on GPUs check their memory
/// themselves. Collective.
Distribution distribute_within_memory(const Communicator& communicator, const ParallelConfig& parallel,
                                      const Problem& problem, const Candidate& candidate,
                                      const DeviceChoice& device);

}  // namespace spsolve
