// SPDX-License-Identifier: Apache-2.0
#include "app/setup/distribution.hpp"

#include <fmt/format.h>

#include "app/machine/host_memory.hpp"
#include "app/setup/terminal.hpp"
#include "halo/collectively.hpp"
#include "halo/machine.hpp"
#include "solver/block.hpp"
#include "solver/block_memory.hpp"
#include "solver/plan/exchange_interval.hpp"

namespace spsolve {

Distribution distribute(const Communicator& communicator, int ranks, const ParallelConfig& parallel,
                        const Problem& problem, const Candidate& candidate, const DeviceChoice& device) {
  const Index3& shape = problem.domain.shape;
  const Index3 rank_grid = parallel.ranks
                               ? *parallel.ranks
                               : min_surface_rank_grid(shape, ranks, candidate.fuse * problem.radius(),
                                                       device.cuda ? gpu_face_cost : Index3{1, 1, 1});
  if (const std::int64_t blocks = volume(rank_grid); blocks != ranks)
    throw Error(InputKey{"parallel", "ranks"},
                fmt::format(": {}, but {} to hold them; start as many as there are blocks "
                            "(check and plan: --ranks {}), or give \"auto\"",
                            counted(blocks, "block"), counted(ranks, "rank"), blocks));
  const Decomposition decomposition(shape, rank_grid);
  if (parallel.exchange_every)
    return {decomposition, candidate.exchanges_in_every_launch() ? 1 : *parallel.exchange_every};
  // Ranks on other processors may round differently.
  const int launches = launches_per_exchange(problem, decomposition, candidate, device.cuda);
  return {decomposition, communicator.all_reduce(launches, MPI_MIN)};
}

Distribution distribute_within_memory(const Communicator& communicator, const ParallelConfig& parallel,
                                      const Problem& problem, const Candidate& candidate,
                                      const DeviceChoice& device) {
  const Distribution blocks =
      distribute(communicator, communicator.size(), parallel, problem, candidate, device);
  if (device.cuda) return blocks;
  communicator.barrier();  // memory of former objects is free on all ranks
  const int ranks_here = ranks_on_this_machine(communicator);
  const std::size_t bytes = block_bytes(problem, blocks.decomposition, candidate, blocks.exchange_every);
  collectively(communicator, [&] { require_host_memory(static_cast<double>(bytes), ranks_here, true); });
  return blocks;
}

}  // namespace spsolve
