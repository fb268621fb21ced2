// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kernels/error.hpp"
#include "kernels/presets.hpp"
#include "solver/plan.hpp"

namespace spsolve {
namespace {

Problem problem_of(const char* preset, const Index3& shape) {
  const int dimensions = *preset_dimensions(preset);
  return {{dimensions, shape, {}}, make_preset(preset, dimensions, {1, 1, 1}, {}), Precision::fp64, false};
}

TEST(Plan, ChoosesTheFastestCandidateOfTheModel) {
  const Plan plan = make_plan(problem_of("star2d1r", {1, 4096, 4096}), nominal_cpu(), {});
  for (const Candidate& candidate : plan.candidates) EXPECT_LE(plan.chosen.seconds, candidate.seconds);
  EXPECT_GT(plan.chosen.fuse, 1) << "five taps leave the cores idle while memory is read";
}

TEST(Plan, KeepsTheDepthThatIsAskedFor) {
  for (const int fuse : {1, 3, 40}) {
    const Plan plan = make_plan(problem_of("box3d1r", {64, 64, 64}), nominal_cpu(), {"auto", "auto", fuse});
    EXPECT_EQ(plan.chosen.fuse, fuse);
  }
}

TEST(Plan, TrafficFallsAndRecomputationGrowsWithDepth) {
  const Plan plan = make_plan(problem_of("star3d1r", {256, 256, 256}), nominal_cpu(), {});
  for (std::size_t i = 1; i < plan.candidates.size(); ++i) {
    EXPECT_LT(plan.candidates[i].bytes, plan.candidates[i - 1].bytes);
    EXPECT_GE(plan.candidates[i].fma, plan.candidates[i - 1].fma);
  }
  EXPECT_DOUBLE_EQ(plan.candidates.front().bytes, 16.0);
  EXPECT_DOUBLE_EQ(plan.candidates.front().fma, 7.0);
}

TEST(Plan, UnitsAndLayoutsThatTheDeviceHasNotAreErrors) {
  const Problem problem = problem_of("star2d1r", {1, 64, 64});
  EXPECT_THROW(make_plan(problem, nominal_cpu(), {"tensor", "auto", {}}), Error);
  EXPECT_THROW(make_plan(problem, nominal_cpu(), {"auto", "morph", {}}), Error);
}

}  // namespace
}  // namespace spsolve
