// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kernels/cpu/correlate_row.hpp"
#include "kernels/cpu/cpu_unit.hpp"
#include "kernels/reference.hpp"
#include "kernels/sparse/round_weights.hpp"
#include "tests/support/whole_grid.hpp"

namespace spsolve {
namespace {

using testing::advance_on_cpu;
using testing::RandomCase;

class CpuUnitSeeds : public ::testing::TestWithParam<int> {};

TEST_P(CpuUnitSeeds, MatchesReferenceInEveryPrecision) {
  RandomCase problem(static_cast<std::uint64_t>(GetParam()));
  const int steps = static_cast<int>(problem.between(1, 5));
  SCOPED_TRACE(problem.describe() + " steps=" + std::to_string(steps));
  const auto expected = reference_steps(problem.domain, problem.stencil, problem.u, steps, &problem.source);
  // The weights have sum of magnitudes 1 and the source magnitude 1, so nothing exceeds k + 1 after k steps.
  const double largest = steps + 1.0;
  for (const Precision precision : all_precisions) {
    const auto found = advance_on_cpu(problem, precision, steps, problem.u);
    const double bound = testing::launch_bound(problem.stencil, precision, steps, largest);
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(found[i], expected[i], bound) << to_string(precision) << " at point " << i;
  }
}

TEST_P(CpuUnitSeeds, FusedStepsHaveTheBitsOfSingleSteps) {
  RandomCase problem(1000 + static_cast<std::uint64_t>(GetParam()));
  const int steps = static_cast<int>(problem.between(2, 6));
  SCOPED_TRACE(problem.describe() + " steps=" + std::to_string(steps));
  for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::tf32}) {
    std::vector<double> single = advance_on_cpu(problem, precision, 1, problem.u);
    for (int step = 1; step < steps; ++step) single = advance_on_cpu(problem, precision, 1, single);
    EXPECT_EQ(advance_on_cpu(problem, precision, steps, problem.u), single) << to_string(precision);
  }
}

TEST_P(CpuUnitSeeds, RegionsHaveTheBitsOfTheWhole) {
  RandomCase problem(2000 + static_cast<std::uint64_t>(GetParam()));
  const int steps = static_cast<int>(problem.between(1, 4));
  SCOPED_TRACE(problem.describe() + " steps=" + std::to_string(steps));
  const std::vector<Box> regions = testing::random_regions(problem);
  for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::bf16, Precision::fp16})
    EXPECT_EQ(advance_on_cpu(problem, precision, steps, problem.u, regions),
              advance_on_cpu(problem, precision, steps, problem.u))
        << to_string(precision);
}

/// Data, ghosts and, in tf32, weights are rounded to the format, so rounding them beforehand must change
/// nothing.
TEST_P(CpuUnitSeeds, OperandsAreNumbersOfTheFormat) {
  RandomCase problem(3000 + static_cast<std::uint64_t>(GetParam()));
  const int steps = static_cast<int>(problem.between(1, 4));
  SCOPED_TRACE(problem.describe() + " steps=" + std::to_string(steps));
  for (const Precision precision : all_precisions) {
    const auto round = [&](double& value) {
      value = with_storage(precision, [&]<class Storage>() {
        return static_cast<double>(static_cast<Compute<Storage>>(to_storage<Storage>(value)));
      });
    };
    RandomCase rounded = problem;
    std::for_each(rounded.u.begin(), rounded.u.end(), round);
    for (auto& faces : rounded.domain.faces)
      for (Face& face : faces) round(face.value);
    rounded.stencil = step_weights(problem.stencil, precision);
    if (precision == Precision::tf32)
      for (const Tap& tap : rounded.stencil.taps()) {
        double operand = tap.weight;
        round(operand);
        EXPECT_EQ(operand, tap.weight);
      }
    EXPECT_EQ(advance_on_cpu(rounded, precision, steps, rounded.u),
              advance_on_cpu(problem, precision, steps, problem.u))
        << to_string(precision);
  }
}

INSTANTIATE_TEST_SUITE_P(Random, CpuUnitSeeds, ::testing::Range(0, 120));

TEST(CpuUnit, GridsLargerThanATileMatchReference) {
  for (const Index3 shape : {Index3{1, 1, 40009}, Index3{1, 61, 5003}, Index3{67, 129, 71}}) {
    RandomCase problem(shape[2]);
    problem.domain = {shape[0] > 1 ? 3 : shape[1] > 1 ? 2 : 1, shape, {}};
    problem.domain.faces[x_axis] = {Face{BoundaryKind::dirichlet, 0.5}, Face{BoundaryKind::neumann}};
    problem.stencil = problem.random_stencil(2);
    problem.u = problem.uniform(volume(shape));
    problem.source = problem.uniform(volume(shape));
    const int steps = 5;
    const auto expected = reference_steps(problem.domain, problem.stencil, problem.u, steps, &problem.source);
    const auto found = advance_on_cpu(problem, Precision::fp64, steps, problem.u);
    const double bound = testing::rounding_bound(problem.stencil, 0x1p-53, steps, steps + 1.0);
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(found[i], expected[i], bound) << problem.describe() << " at " << i;
  }
}

TEST(CorrelateRow, HasTheBitsOfAScalarChainAtEveryBeginAndLength) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> value(-1.0, 1.0);
  constexpr std::int64_t room = 320;
  const auto draw = [&](std::int64_t count) {
    std::vector<double> values(static_cast<std::size_t>(count));
    std::generate(values.begin(), values.end(), [&] { return value(random); });
    return values;
  };
  const std::vector<double> above = draw(room), middle = draw(room), source = draw(room), weights = draw(4);
  for (std::int64_t begin = 1; begin < 18; ++begin)
    for (std::int64_t points = 1; begin + points < room - 1; points += points < 20 ? 1 : 23)
      for (const bool non_temporal : {false, true}) {
        const double* taps[] = {above.data() + begin, middle.data() + begin - 1, middle.data() + begin,
                                middle.data() + begin + 1};
        std::vector<double> expected(room, 9.0), found(room, 9.0);
        for (std::int64_t x = 0; x < points; ++x) {
          double sum = source[begin + x];
          for (std::size_t k = 0; k < weights.size(); ++k) sum = std::fma(weights[k], taps[k][x], sum);
          expected[begin + x] = sum;
        }
        Row<double, double> row{found.data() + begin, points, taps, weights.data(), 4, source.data() + begin};
        row.next_in = taps[0];
        row.next_out = row.out;
        row.non_temporal = non_temporal;
        correlate_row_widest(row);
        ASSERT_EQ(found, expected) << "begin " << begin << " points " << points;
        std::fill(found.begin(), found.end(), 9.0);
        correlate_row<std::experimental::native_simd<double>>(row);
        ASSERT_EQ(found, expected) << "begin " << begin << " points " << points;
      }
}

}  // namespace
}  // namespace spsolve
