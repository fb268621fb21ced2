// SPDX-License-Identifier: Apache-2.0
#include "kernels/fused_unit.hpp"

#include <gtest/gtest.h>

#include "kernels/cpu/cpu_unit.hpp"
#include "kernels/reference.hpp"
#include "kernels/sparse/accuracy.hpp"
#include "kernels/sparse/emulation/emulated_sweep.hpp"
#include "tests/support/whole_grid.hpp"

namespace spsolve {
namespace {

using testing::RandomCase;

/// Returns every layout that takes a precision.
std::vector<Layout> layouts_of(Precision precision) {
  if (precision == Precision::fp64) return {Layout::dual_tessellation};
  return {Layout::strided_swap, Layout::morph, Layout::separable};
}

/// Makes a fused unit on emulated tensor cores, with its source.
class Fused {
 public:
  Fused(const RandomCase& problem, Precision precision, Layout layout, int steps)
      : sums_(sum_precision(precision)),
        source_(testing::whole_grid(problem, sums_, steps, problem.source)),
        fused_source_(fused_from(problem, steps)),
        unit_(problem.domain, problem.stencil.radius(), steps,
              required(make_emulated_sweep(fuse_steps(problem.stencil, steps), precision, layout,
                                           dropped(precision), problem.domain.shape)),
              std::make_unique<Branch>(),
              std::make_unique<CpuUnit>(problem.domain, problem.stencil, precision, &source_),
              &fused_source_) {}

  static double dropped(Precision precision) { return unit_roundoff(precision) / 4; }
  const Unit& unit() const { return unit_; }

 private:
  Field fused_from(const RandomCase& problem, int steps) const {
    const Index3 reach = steps * problem.stencil.radius();
    Field fused(source_.owned(), source_.halo(), sums_);
    make_fused_source(CpuUnit(problem.domain, problem.stencil, sums_, &source_), steps,
                      problem.domain.away_from_walls(source_.owned(), reach),
                      Field(source_.owned(), source_.halo(), sums_), fused);
    return fused;
  }

  Precision sums_;
  Field source_, fused_source_;
  FusedUnit unit_;
};

/// Holds a random problem. Its grid usually has points that fused steps do not reach from a wall.
struct Case {
  RandomCase problem;
  int steps;

  explicit Case(int seed)
      : problem(static_cast<std::uint64_t>(seed), 2, 1500), steps(static_cast<int>(problem.between(1, 3))) {}
};

class FusedUnitSeeds : public ::testing::TestWithParam<int> {};

TEST_P(FusedUnitSeeds, EqualsSingleStepsAtEveryPoint) {
  Case c(GetParam());
  RandomCase& problem = c.problem;
  SCOPED_TRACE(problem.describe() + " steps=" + std::to_string(c.steps));
  const auto expected = reference_steps(problem.domain, problem.stencil, problem.u, c.steps, &problem.source);
  // The weights have sum |w| = 1 and the source magnitude 1, so nothing exceeds k + 1 after k steps.
  const double largest = c.steps + 1.0;
  const Stencil fused = fuse_steps(problem.stencil, c.steps);
  for (const Precision precision : all_precisions)
    for (const Layout layout : layouts_of(precision)) {
      const Fused unit(problem, precision, layout, c.steps);
      const auto found = testing::advance_whole_grid(problem, unit.unit(), precision, c.steps, problem.u,
                                                     {problem.domain.box()});
      // The bound combines both methods. The fused source is one more exact launch, and data and source are
      // rounded when they are stored.
      const LaunchError single = scalar_error(problem.stencil, c.steps, precision);
      const double bound =
          (std::max(single.total(),
                    sweep_error(fused, precision, layout, Fused::dropped(precision)).total()) +
           single.total() + c.steps * unit_roundoff(precision)) *
          largest * 1.01;
      for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(found[i], expected[i], bound)
            << to_string(precision) << " " << to_string(layout) << " at point " << i;
    }
}

TEST_P(FusedUnitSeeds, RegionsHaveTheBitsOfTheWhole) {
  Case c(1000 + GetParam());
  RandomCase& problem = c.problem;
  SCOPED_TRACE(problem.describe() + " steps=" + std::to_string(c.steps));
  const std::vector<Box> regions = testing::random_regions(problem);
  for (const Precision precision : all_precisions)
    for (const Layout layout : layouts_of(precision)) {
      const Fused unit(problem, precision, layout, c.steps);
      EXPECT_EQ(testing::advance_whole_grid(problem, unit.unit(), precision, c.steps, problem.u, regions),
                testing::advance_whole_grid(problem, unit.unit(), precision, c.steps, problem.u,
                                            {problem.domain.box()}))
          << to_string(precision) << " " << to_string(layout);
    }
}

TEST_P(FusedUnitSeeds, LaunchesOfOtherLengthsAreSingleSteps) {
  Case c(2000 + GetParam());
  RandomCase& problem = c.problem;
  for (const Precision precision : {Precision::fp64, Precision::bf16}) {
    const Layout layout = precision == Precision::fp64 ? Layout::dual_tessellation : Layout::morph;
    const Fused unit(problem, precision, layout, c.steps + 1);
    EXPECT_EQ(testing::advance_whole_grid(problem, unit.unit(), precision, c.steps, problem.u,
                                          {problem.domain.box()}),
              testing::advance_on_cpu(problem, precision, c.steps, problem.u));
  }
}

INSTANTIATE_TEST_SUITE_P(Random, FusedUnitSeeds, ::testing::Range(0, 50));

}  // namespace
}  // namespace spsolve
