// SPDX-License-Identifier: Apache-2.0
// Runs step.cuh, as it is compiled for GPUs, in an emulation of its blocks.
#include <gtest/gtest.h>

#include <limits>

#include "emulated.hpp"
#include "step_case.hpp"
#include "tests/support/whole_grid.hpp"

namespace spsolve::cuda {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(EmulatedStep, HasTheBitsOfTheCpuUnitInAnyRegions) {
  const StepCase& c = case_named(emulated_case, step_cases);
  testing::RandomCase problem = c.problem();
  const Precision precision = c.shape.precision;
  const auto expected = advance_on_cpu(problem, precision, 1, problem.u);
  const double bound = c.bound();
  const Field source = whole_grid(problem, sum_precision(precision), 1, problem.source, false);
  const Field in = whole_grid(problem, precision, 1, problem.u, false, c.wraps);
  for (const auto& regions : {std::vector{problem.domain.box()}, testing::random_regions(problem)}) {
    Field out = whole_grid(problem, precision, 1, std::vector<double>(problem.u.size(), nan));
    for (const Box& region : regions)
      launch_emulated_step(scalar_arguments(problem, in, out, source, region), 3);
    const auto found = testing::points_of(out, problem.domain.box());
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(found[i], expected[i], bound) << "point " << i << " in " << regions.size() << " regions";
  }
}

}  // namespace
}  // namespace spsolve::cuda
