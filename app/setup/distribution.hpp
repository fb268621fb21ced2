// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/setup/device.hpp"
#include "solver/plan/model.hpp"

namespace spsolve {

/// How the ranks share a grid, and how often they exchange halos.
struct Distribution {
  Decomposition decomposition;
  int exchange_every = 1;  // launches that share an exchange of halos
};

/// One block for each of `ranks` ranks, as `parallel` says; what it leaves open are blocks of least surface,
/// by what cutting an axis costs on such devices, and the interval that the model gives. The same on every
/// rank. Throws Error(invalid_input) where that is not one block per rank. Collective.
Distribution distribute(const Communicator& communicator, int ranks, const ParallelConfig& parallel,
                        const Problem& problem, const Candidate& candidate, const DeviceChoice& device);

/// The same for the ranks of the communicator. Throws Error(invalid_input) where blocks are in host memory
/// and this machine has not enough free for those of its ranks; a GPU is asked by the block itself.
/// Collective.
Distribution distribute_within_memory(const Communicator& communicator, const ParallelConfig& parallel,
                                      const Problem& problem, const Candidate& candidate,
                                      const DeviceChoice& device);

}  // namespace spsolve
