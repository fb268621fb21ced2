// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "halo/communicator.hpp"

namespace spsolve {

/// Marks the cores on which a rank may run, with a bit for each core of a machine, as many as Linux may have.
using CoreMask = std::array<std::uint64_t, 8192 / 64>;

/// Returns how many threads a rank starts: the cores of its mask, divided among the ranks whose masks share
/// them, but at least one. `masks` are those of all ranks on its machine.
int threads_of_rank(std::span<const CoreMask> masks, int rank);

/// Sets the number of threads of this rank. Ranks that may run on the same cores divide them, and the ranks
/// of a machine divide its quota of processors. Without this each rank would start a thread on every core
/// that it may use. Numbers in OMP_NUM_THREADS take precedence. Collective.
void share_cores(const Communicator& communicator);

/// Starts the threads of this rank, or, with a warning, as many as limits allow at that moment. Without this
/// call the OpenMP library would start them in the first parallel loop, and end a process that has no room
/// for them.
void start_threads();

/// Holds the cores that a job has on a machine, and what its launcher is called and told to use them.
struct JobCores {
  int count = 0;  // 0: unknown
  std::string launcher, advice;
};

/// Returns advice if `ranks` of a job with `threads` in all leave cores of a machine idle, otherwise an empty
/// text.
std::string advice_on_idle_cores(const JobCores& job, const std::string& host, int threads, int ranks);

/// Returns advice ("3 of 4 cores of node1 lie idle: ...") if Open MPI's mpirun or Slurm's srun has bound each
/// rank to one core and leaves other cores of the job on this machine unused, or if OMP_NUM_THREADS makes
/// more threads than can run at a time. Returns an empty text otherwise. Only the machine of rank 0 is looked
/// at. Collective.
std::string advice_on_cores(const Communicator& communicator);

}  // namespace spsolve
