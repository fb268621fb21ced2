// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "halo/mpi_transport.hpp"
#include "kernels/reference.hpp"
#include "tests/support/blocks.hpp"

namespace spsolve {
namespace {

/// A random rank grid of all ranks that fits the grid, or nothing.
std::optional<Index3> random_rank_grid(testing::RandomCase& problem, int ranks) {
  std::vector<Index3> fitting;
  for (int z = 1; z <= ranks; ++z)
    for (int y = 1; z * y <= ranks; ++y) {
      const Index3 grid{z, y, ranks / (z * y)};
      if (volume(grid) == ranks && grid[0] <= problem.domain.shape[0] && grid[1] <= problem.domain.shape[1] &&
          grid[2] <= problem.domain.shape[2])
        fitting.push_back(grid);
    }
  if (fitting.empty()) return std::nullopt;
  return fitting[static_cast<std::size_t>(problem.between(0, static_cast<std::int64_t>(fitting.size()) - 1))];
}

/// Blocks thinner than the halo, several neighbours away, walls in any combination, sources, launches of
/// changing depth: in fp64 within rounding of the reference, and in every precision the bits of one rank.
TEST(Block, AnyDecompositionHasTheBitsOfOneRankAndMatchesReference) {
  const Communicator world;
  int compared = 0;
  for (int seed = 0; seed < 60; ++seed) {
    testing::RandomCase problem(static_cast<std::uint64_t>(seed), 3, 1200);
    const auto rank_grid = random_rank_grid(problem, world.size());
    const int fuse = static_cast<int>(problem.between(1, 4));
    if (!rank_grid) continue;
    ++compared;
    SCOPED_TRACE(problem.describe() + " fuse=" + std::to_string(fuse) +
                 " ranks=" + std::to_string((*rank_grid)[0]) + "x" + std::to_string((*rank_grid)[1]) + "x" +
                 std::to_string((*rank_grid)[2]));
    for (const Precision precision :
         {Precision::fp64, Precision::fp32, Precision::tf32, Precision::bf16, Precision::fp16}) {
      const auto solve = [&](const Communicator& communicator, const Index3& grid) {
        MpiTransport transport(communicator);
        CpuBackend backend(transport);
        Block block(communicator, {problem.domain, problem.stencil, precision, true},
                    Decomposition(problem.domain.shape, grid), fuse, backend);
        block.set_source(testing::values_of(problem.domain, problem.source));
        block.set_state(testing::values_of(problem.domain, problem.u));
        for (const int steps : {fuse, 1, fuse}) block.launch(steps);
        return testing::gathered(communicator, problem.domain, block.state());
      };
      const auto found = solve(world, *rank_grid);
      const auto alone = solve(Communicator(MPI_COMM_SELF), {1, 1, 1});
      EXPECT_EQ(found, alone) << to_string(precision);
      if (precision != Precision::fp64) continue;
      const int steps = 2 * fuse + 1;
      const auto expected =
          reference_steps(problem.domain, problem.stencil, problem.u, steps, &problem.source);
      const double bound = testing::rounding_bound(problem.stencil, 0x1p-53, steps, steps + 1.0);
      for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(found[i], expected[i], bound) << "at " << i;
    }
  }
  EXPECT_GT(compared, 10);
}

}  // namespace
}  // namespace spsolve
