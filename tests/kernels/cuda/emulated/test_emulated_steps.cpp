// SPDX-License-Identifier: Apache-2.0
// Runs small-grid steps (steps.cuh), as they are compiled for GPUs, in an emulation of their blocks.
#include <gtest/gtest.h>

#include <limits>

#include "emulated.hpp"
#include "kernels/cuda/scalar/small_grid_tile.hpp"
#include "steps_case.hpp"
#include "tests/support/whole_grid.hpp"

namespace spsolve::cuda {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Runs one launch per region, with tiles as they are chosen for a device of `multiprocessors`
/// multiprocessors.
std::vector<double> advance(const StepCase& c, const testing::RandomCase& problem,
                            const std::vector<Box>& regions, int multiprocessors) {
  const Field source = whole_grid(problem, sum_precision(c.shape.precision), c.steps, problem.source, false);
  const Field in = whole_grid(problem, c.shape.precision, c.steps, problem.u, false);
  Field out = whole_grid(problem, c.shape.precision, c.steps, std::vector<double>(problem.u.size(), nan));
  for (const Box& region : regions) {
    ScalarArguments a = scalar_arguments(problem, in, out, source, region);
    const SmallGridTile tile =
        choose_small_grid_tile(c.stencil(), a.region, c.steps, c.formats().compute_bytes(),
                               {90, 227 << 10, multiprocessors})
            .value();
    a.steps = c.steps;
    a.tile_planes = static_cast<int>(tile.planes);
    a.tile_columns = static_cast<int>(tile.columns);
    launch_emulated_steps(a, static_cast<int>(tile.column_tiles), static_cast<int>(tile.plane_tiles),
                          tile.stride);
  }
  return testing::points_of(out, problem.domain.box());
}

TEST(EmulatedSteps, HaveTheBitsOfTheCpuUnitInAnyTiles) {
  const StepCase& c = case_named(emulated_case, steps_cases);
  testing::RandomCase problem = c.problem();
  const auto expected = advance_on_cpu(problem, c.shape.precision, c.steps, problem.u);
  const double bound = c.bound();
  const auto regions = testing::random_regions(problem);
  for (const int multiprocessors : {1, 4, 132})
    for (const auto& parts : {std::vector{problem.domain.box()}, regions}) {
      const auto found = advance(c, problem, parts, multiprocessors);
      for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(found[i], expected[i], bound)
            << "point " << i << " in " << parts.size() << " regions on " << multiprocessors;
    }
}

}  // namespace
}  // namespace spsolve::cuda
