// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "halo/communicator.hpp"

namespace spsolve {

/// A bit for each core of a machine, as many as Linux may have: those that a rank may run on.
using CoreMask = std::array<std::uint64_t, 8192 / 64>;

/// How many threads a rank starts: the cores of its mask, divided among the ranks whose masks have any of
/// them; at least one. `masks`: of all ranks on its machine.
int threads_of_rank(std::span<const CoreMask> masks, int rank);

/// Ranks that may run on the same cores share them, and ranks of a machine the quota of processors that they
/// may take there, unless OMP_NUM_THREADS says how many threads there are: without it each would start a
/// thread on every core that it may use. Collective.
void share_cores(const Communicator& communicator);

/// "3 of 4 cores of node1 lie idle: ...": what to type where Open MPI's mpirun has bound each rank to one
/// core and no rank may use others that it has; empty elsewhere, and on other machines than that of rank 0.
/// Collective.
std::string idle_cores(const Communicator& communicator);

}  // namespace spsolve
