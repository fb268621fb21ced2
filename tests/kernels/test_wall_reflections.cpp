// SPDX-License-Identifier: Apache-2.0
//
// Fused steps of a field with reflections beyond its walls must equal single steps between the walls.
#include "kernels/wall_reflections.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/reference.hpp"
#include "tests/support/wall_reflections.hpp"

namespace spsolve {
namespace {

/// Correlates the field continued beyond walls by reflections.
std::vector<double> swept(const Domain& domain, const Stencil& fused, const std::vector<double>& u) {
  std::vector<double> result;
  for_each_point(domain.box(), [&](const Index3& p) {
    double sum = 0;
    for (const Tap& tap : fused.taps()) {
      const testing::ReflectedPoint reflected = testing::reflected_point(domain, p + tap.offset);
      sum +=
          tap.weight * reflected.apply(u[static_cast<std::size_t>(index_of(reflected.point, domain.shape))]);
    }
    result.push_back(sum);
  });
  return result;
}

/// Checks that one correlation equals `steps` single steps away from walls without reflections.
void expect_steps(const testing::RandomCase& problem, const Domain& reflecting, int steps) {
  SCOPED_TRACE(problem.describe() + " fuse " + std::to_string(steps));
  const std::vector<double> expected = reference_steps(problem.domain, problem.stencil, problem.u, steps),
                            found = swept(reflecting, fuse_steps(problem.stencil, steps), problem.u);
  // The bound counts terms of the fused weights and of the steps; reflections are at most 3 (2 c - u).
  const double bound = testing::rounding_bound(fuse_steps(problem.stencil, steps), 0x1p-53, 1, 3) +
                       testing::rounding_bound(problem.stencil, 0x1p-53, steps, 3);
  const Box inside = reflecting.away_from_walls(reflecting.box(), steps * problem.stencil.radius());
  std::size_t i = 0;
  for_each_point(reflecting.box(), [&](const Index3& p) {
    if (contains(inside, p)) {
      ASSERT_NEAR(found[i], expected[i], bound) << p[0] << ' ' << p[1] << ' ' << p[2];
    }
    ++i;
  });
}

TEST(WallReflections, MakeFusedStepsOfSingleOnes) {
  int reflected_axes = 0;
  for (int seed = 0; seed < 400; ++seed) {
    testing::RandomCase problem = testing::with_symmetric_weights(
        testing::RandomCase(static_cast<std::uint64_t>(seed), 1, 300), 3, seed >= 200);
    const int steps = static_cast<int>(problem.between(1, 4));
    const Domain reflecting = with_wall_reflections(problem.domain, problem.stencil, steps, Precision::fp64);
    const Index3 reach = steps * problem.stencil.radius();
    for (int axis = 0; axis < axis_count; ++axis) {
      const bool walls = !problem.domain.periodic(axis);
      EXPECT_EQ(reflecting.reflected[axis], walls && reach[axis] <= problem.domain.shape[axis]);
      reflected_axes += reflecting.reflected[axis];
    }
    expect_steps(problem, reflecting, steps);
  }
  EXPECT_GT(reflected_axes, 200);
}

/// Ghost points are reflections before a single step, whatever its weights.
TEST(WallReflections, MakeSingleStepsOfAnyWeights) {
  int reflected_axes = 0;
  for (int seed = 0; seed < 200; ++seed) {
    const testing::RandomCase problem(static_cast<std::uint64_t>(seed), 1, 300);
    const Domain reflecting = with_wall_reflections(problem.domain, problem.stencil, 1, Precision::fp64);
    for (int axis = 0; axis < axis_count; ++axis) {
      const std::int64_t radius = problem.stencil.radius()[axis];
      const auto has_value = [&](int other) {
        return std::any_of(problem.domain.faces[other].begin(), problem.domain.faces[other].end(),
                           [](const Face& face) { return face.kind == BoundaryKind::dirichlet; });
      };
      const int with_values = has_value(z_axis) + has_value(y_axis) + has_value(x_axis);
      if (!has_value(axis) || with_values == 1) {
        EXPECT_EQ(
            reflecting.reflected[axis],
            !problem.domain.periodic(axis) && radius <= (has_value(axis) ? 1 : problem.domain.shape[axis]));
      }
      reflected_axes += reflecting.reflected[axis];
    }
    expect_steps(problem, reflecting, 1);
  }
  EXPECT_GT(reflected_axes, 50);
}

/// Returns a 2D domain with 9 points along each axis.
Domain between(const std::array<Face, 2>& y, const std::array<Face, 2>& x) {
  Domain domain{2, {1, 9, 9}, {}};
  domain.faces[y_axis] = y;
  domain.faces[x_axis] = x;
  return domain;
}

TEST(WallReflections, AreOnlyWhereTheyAreExact) {
  constexpr Face neumann{BoundaryKind::neumann}, zero{BoundaryKind::dirichlet},
      one{BoundaryKind::dirichlet, 1}, two{BoundaryKind::dirichlet, 2}, zero_at_face{BoundaryKind::value},
      one_at_face{BoundaryKind::value, 1}, filled{BoundaryKind::filled};
  using Axes = std::array<bool, 3>;
  const auto reflected = [](const Domain& domain, const Stencil& stencil, int steps) {
    return with_wall_reflections(domain, stencil, steps, Precision::fp32).reflected;
  };
  const Stencil even({1, 3, 3}, {0, .125, 0, .25, .25, .25, 0, .125, 0}, {0, 1, 1}),
      upwind({1, 1, 3}, {.5, .25, .25}, {0, 0, 1}), shrinking({1, 1, 3}, {.25, .25, .25}, {0, 0, 1}),
      wide({1, 1, 5}, {.125, .25, .25, .25, .125}, {0, 0, 2}),
      diagonal({1, 3, 3}, {.25, 0, 0, 0, .5, 0, 0, 0, .25}, {0, 1, 1});
  const std::array<Face, 2> neumanns{neumann, neumann}, zeros{zero, zero}, ones{one, one}, periodic{};
  EXPECT_EQ(reflected(between(neumanns, neumanns), even, 9), (Axes{false, true, true}));
  EXPECT_EQ(reflected(between(neumanns, neumanns), even, 10), (Axes{}));
  EXPECT_EQ(reflected(between(periodic, neumanns), upwind, 2), (Axes{}));
  EXPECT_EQ(reflected(between(periodic, neumanns), upwind, 1), (Axes{false, false, true}));
  EXPECT_EQ(reflected(between(neumanns, periodic), upwind, 2), (Axes{false, true, false}));
  EXPECT_EQ(reflected(between(neumanns, neumanns), diagonal, 2), (Axes{}));
  EXPECT_EQ(reflected(between(periodic, neumanns), wide, 2), (Axes{false, false, true}));
  EXPECT_EQ(reflected(between(periodic, zeros), wide, 2), (Axes{}));
  EXPECT_EQ(reflected(between(periodic, zeros), shrinking, 2), (Axes{false, false, true}));
  EXPECT_EQ(reflected(between(periodic, zeros), wide, 1), (Axes{}));
  EXPECT_EQ(reflected(between(periodic, ones), shrinking, 2), (Axes{}));
  EXPECT_EQ(reflected(between(periodic, ones), shrinking, 1), (Axes{false, false, true}));
  EXPECT_EQ(reflected(between(ones, ones), even, 2), (Axes{false, true, true}));
  EXPECT_EQ(reflected(between(ones, {one, two}), even, 2), (Axes{}));
  EXPECT_EQ(reflected(between(neumanns, {one, two}), even, 2), (Axes{false, true, true}));
  EXPECT_EQ(reflected(between({neumann, one}, {one, neumann}), even, 2), (Axes{false, true, true}));
  const std::array<Face, 2> zeros_at_faces{zero_at_face, zero_at_face},
      ones_at_faces{one_at_face, one_at_face};
  EXPECT_EQ(reflected(between(periodic, zeros_at_faces), wide, 2), (Axes{false, false, true}));
  EXPECT_EQ(reflected(between(periodic, zeros_at_faces), shrinking, 2), (Axes{false, false, true}));
  EXPECT_EQ(reflected(between(periodic, zeros_at_faces), upwind, 2), (Axes{}));
  EXPECT_EQ(reflected(between(periodic, ones_at_faces), wide, 2), (Axes{false, false, true}));
  EXPECT_EQ(reflected(between(periodic, ones_at_faces), shrinking, 2), (Axes{}));
  EXPECT_EQ(reflected(between(periodic, ones_at_faces), upwind, 1), (Axes{false, false, true}));
  EXPECT_EQ(reflected(between(ones_at_faces, {one, neumann}), even, 2), (Axes{false, true, true}));
  EXPECT_EQ(reflected(between(ones_at_faces, {zero_at_face, one}), even, 2), (Axes{}));
  EXPECT_EQ(reflected(between(periodic, {filled, neumann}), even, 1), (Axes{}));
}

}  // namespace
}  // namespace spsolve
