// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "halo/communicator.hpp"
#include "io/input/config.hpp"
#include "solver/plan/lost_changes.hpp"
#include "solver/problem.hpp"

namespace spsolve {

/// Returns parts of the initial state of a problem without equations, as the input describes it: up to
/// five boxes from one corner of the grid to the opposite one, or the whole grid if it is small. There is no
/// sample for a stencil of so many weights that one step of the boxes takes seconds. Only rank 0 gets parts.
/// Collective. All ranks throw if values cannot be read.
InitialSample initial_sample(const Communicator& communicator, const RunConfig& config,
                             const Problem& problem);

}  // namespace spsolve
