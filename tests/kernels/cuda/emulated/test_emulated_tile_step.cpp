// SPDX-License-Identifier: Apache-2.0
// Runs box_step.cuh or star_step.cuh, as they are compiled for GPUs, in an emulation of their blocks, with
// one of EMULATED_CASES.
#include <gtest/gtest.h>

#include <limits>

#include "box_step_case.hpp"
#include "emulated.hpp"
#include "kernels/rounding.hpp"
#include "star_step_case.hpp"
#include "tests/support/whole_grid.hpp"

namespace spsolve::cuda {
namespace {

TEST(EmulatedTileStep, HasTheBitsOfTheCpuUnitInAnyRegions) {
  const auto& c = case_named(emulated_case, EMULATED_CASES);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  testing::RandomCase problem = c.step.problem();
  const Precision precision = c.step.shape.precision;
  const auto tile = c.tile();
  const KernelStencil stencil = c.step.stencil();
  const auto expected = advance_on_cpu(problem, precision, 1, problem.u);
  const Field source = whole_grid(problem, sum_precision(precision), 1, problem.source, false);
  const Field in = whole_grid(problem, precision, 1, problem.u, false, c.step.wraps);
  for (const auto& regions : {std::vector{problem.domain.box()}, testing::random_regions(problem)}) {
    Field out = whole_grid(problem, precision, 1, std::vector<double>(problem.u.size(), nan));
    for (const Box& region : regions) {
      ScalarArguments a = scalar_arguments(problem, in, out, source, region);
      a.first_column = round_down(a.region.begin[column_axis], 16);
      a.tile_planes = tile.planes;
      const auto blocks = [&](int axis, std::int64_t first, int of_block) {
        return static_cast<int>(ceil_div(a.region.end[axis] - first, of_block));
      };
      const int rows = stencil.tile_axis(), slow = stencil.slow_axis();
      launch_emulated_tile_step(a, blocks(column_axis, a.first_column, tile.columns),
                                blocks(rows, a.region.begin[rows], tile.rows),
                                blocks(slow, a.region.begin[slow], tile.planes));
    }
    const auto found = testing::points_of(out, problem.domain.box());
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(found[i], expected[i]) << "point " << i << " in " << regions.size() << " regions";
  }
}

}  // namespace
}  // namespace spsolve::cuda
