// SPDX-License-Identifier: Apache-2.0
#include "tests/support/reference_step.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/reference.hpp"
#include "tests/kernels/operator/random_step.hpp"

namespace spsolve::testing {
namespace {

using ::testing::ElementsAre;

constexpr Face periodic{}, mirrored{BoundaryKind::neumann};
constexpr Face constant(double value) { return {BoundaryKind::dirichlet, value}; }

/// Takes one step in 1D of the fields u and v with the coefficient k, which have three points at x = 10, 12,
/// 14.
class ThreePoints {
 public:
  std::array<Face, 2> walls_of_u{periodic, periodic}, walls_of_v{periodic, periodic};
  std::int64_t step = 0;

  std::vector<double> u_after(const std::string& value, const std::string& before = "v.next = v") const {
    StepNames names;
    names.dimensions = 1;
    names.dt = 0.5;
    names.spacing[x_axis] = 2.0;
    names.fields = {"u", "v"};
    names.coefficients = {"k"};
    const System system = resolve_step(parse_step(before + "\nu.next = " + value), names);
    Domain domain;
    domain.dimensions = 1;
    domain.shape = {1, 1, 3};
    StepContext context{{0, 0, 10}, names.spacing, names.dt, {domain, domain}, {{7, 8, 9}}};
    context.fields[0].faces[x_axis] = walls_of_u;
    context.fields[1].faces[x_axis] = walls_of_v;
    return reference_step(system, context, {{{1, 2, 3}, {4, 5, 6}}, {{-1, -2, -3}, {-4, -5, -6}}, step})
        .now[0];
  }
};

TEST(ReferenceStep, ReadsFieldsAtTheirLevels) {
  const ThreePoints points;
  EXPECT_THAT(points.u_after("u + 10*v + 100*u.previous"), ElementsAre(-59, -148, -237));
  EXPECT_THAT(points.u_after("v.next + v", "v.next = 10*v"), ElementsAre(44, 55, 66));
}

TEST(ReferenceStep, PadsFieldsByTheirOwnWalls) {
  ThreePoints points;
  points.walls_of_v = {constant(-50), mirrored};
  EXPECT_THAT(points.u_after("u[-1] + 10*v[-1]"), ElementsAre(3 - 500, 1 + 40, 2 + 50));
  EXPECT_THAT(points.u_after("u[2] + 10*v[2]"), ElementsAre(3 + 60, 1 + 60, 2 + 50));
  EXPECT_THAT(points.u_after("v[-4]"), ElementsAre(-50, -50, -50));
  EXPECT_THAT(points.u_after("u[-4] + u[5]"), ElementsAre(3 + 3, 1 + 1, 2 + 2));
  EXPECT_THAT(points.u_after("v.previous[1]"), ElementsAre(-5, -6, -6));
  EXPECT_THAT(points.u_after("v.next[-1]", "v.next = 2*v"), ElementsAre(-50, 8, 10))
      << "the wall's, not twice it";
}

TEST(ReferenceStep, DisplacesAllOfAnExpression) {
  ThreePoints points;
  EXPECT_THAT(points.u_after("(k*u)[1]"), ElementsAre(16, 27, 7)) << "coefficients wrap";
  EXPECT_THAT(points.u_after("(x + u)[1]"), ElementsAre(14, 17, 17)) << "coordinates go on";
  points.walls_of_u = points.walls_of_v = {mirrored, constant(100)};
  EXPECT_THAT(points.u_after("(k*u)[1]"), ElementsAre(16, 27, 900)) << "coefficients are mirrored";
  EXPECT_THAT(points.u_after("(k*u)[-2]"), ElementsAre(16, 7, 7));
  EXPECT_THAT(points.u_after("(u^2)[1]"), ElementsAre(4, 9, 10000));
}

TEST(ReferenceStep, KnowsTime) {
  ThreePoints points;
  points.step = 3;
  EXPECT_THAT(points.u_after("t + 10*step + 100*dt"), ElementsAre(81.5, 81.5, 81.5));
}

TEST(ReferenceStep, DifferentiatesByTheSpacing) {
  ThreePoints points;
  points.walls_of_u = {mirrored, mirrored};
  EXPECT_THAT(points.u_after("d(u, x)"), ElementsAre(0.25, 0.5, 0.25));
  EXPECT_THAT(points.u_after("d(u, x, 2)"), ElementsAre(0.25, 0, -0.25));
  EXPECT_THAT(points.u_after("d(k*d(u, x, at=0.5), x, at=-0.5)"), ElementsAre(7 / 4.0, 1 / 4.0, -8 / 4.0));
  EXPECT_THAT(points.u_after("mean(u^2, x, at=0.5)"), ElementsAre(2.5, 6.5, 9));
}

TEST(ReferenceStep, OfOneLinearEquationIsTheReferenceOfStencils) {
  std::mt19937 random(29);
  for (int repeat = 0; repeat < 100; ++repeat) {
    ExampleStep example{"correlation", {}, "u.next = correlate(w, u)"};
    example.names.dimensions = 1 + repeat % 3;
    example.names.fields = {"u"};
    const RandomProblem problem(example, random, 4);
    Index3 extent{1, 1, 1}, center{};
    for (int axis = axis_count - example.names.dimensions; axis < axis_count; ++axis)
      extent[axis] = 1 + static_cast<int>(random() % 6),
      center[axis] = static_cast<int>(random() % extent[axis]);
    std::vector<double> weights;
    for (std::int64_t i = 0; i < volume(extent); ++i)
      weights.push_back(std::uniform_real_distribution<double>(-1, 1)(random));
    const Stencil stencil(extent, weights, center);
    example.names.stencils.emplace("w", stencil);
    EXPECT_EQ(reference_step(system_of(example), problem.context, problem.state).now[0],
              reference_step(problem.context.fields[0], stencil, problem.state.now[0]));
  }
}

}  // namespace
}  // namespace spsolve::testing
