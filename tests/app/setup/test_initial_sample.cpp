// SPDX-License-Identifier: Apache-2.0
#include "app/setup/initial_sample.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/setup/setup.hpp"
#include "io/input/config.hpp"
#include "io/input/expression.hpp"
#include "kernels/reference.hpp"

namespace spsolve {
namespace {

/// Holds the sample of an input, with all that it was made from.
struct Sampled {
  explicit Sampled(const std::string& input)
      : config(parse_config(input, "input.toml")),
        problem(problem_of(world, config)),
        sample(initial_sample(world, config, problem)) {}

  /// Returns the values of a formula on the grid.
  std::vector<double> on_grid(const FieldForm& form) const {
    std::vector<double> values(static_cast<std::size_t>(problem.domain.box().points()));
    const auto& formula = std::get<ExpressionForm>(form).expression;
    Expression{formula, "test"}.evaluate(
        config.grid, problem.domain.box(), [&](const Index3& begin, std::span<const double> row) {
          std::ranges::copy(row, values.begin() + index_of(begin, problem.domain.shape));
        });
    return values;
  }

  const Communicator world;
  const RunConfig config;
  const Problem problem;
  const InitialSample sample;
};

/// Requires that the judged points of all parts take the steps that they take on the whole grid.
void expect_steps_of_the_grid(const Sampled& sampled, std::size_t parts) {
  const auto& [world, config, problem, sample] = sampled;
  if (!world.root()) {
    EXPECT_TRUE(sample.parts.empty());
    return;
  }
  ASSERT_EQ(sample.parts.size(), parts);
  const std::vector<double> initial =
      sampled.on_grid(config.equations ? config.equations->fields.front().initial : config.initial);
  std::vector<double> source =
      config.source ? sampled.on_grid(*config.source) : std::vector<double>(initial.size());
  if (config.source_is_rate)
    for (double& value : source) value *= config.time.dt;
  const auto whole = reference_steps(problem.domain, problem.stencil, initial, sample.steps, &source);
  for (std::size_t i = 0; i < parts; ++i) {
    const SampledPart& part = sample.parts[i];
    Index3 begin{};  // the parts lie at equal distances
    for (int axis = 0; axis < axis_count && parts > 1; ++axis)
      begin[axis] = (problem.domain.shape[axis] - part.domain.shape[axis]) * static_cast<std::int64_t>(i) /
                    static_cast<std::int64_t>(parts - 1);
    EXPECT_GE(part.judged.points(), 1);
    const auto steps = reference_steps(part.domain, problem.stencil, part.field, sample.steps,
                                       part.source.empty() ? nullptr : &part.source);
    for_each_point(part.judged, [&](const Index3& p) {
      EXPECT_EQ(steps[static_cast<std::size_t>(index_of(p, part.domain.shape))],
                whole[static_cast<std::size_t>(index_of(begin + p, problem.domain.shape))]);
    });
  }
}

TEST(InitialSample, TakesTheStepsOfTheGrid) {
  expect_steps_of_the_grid(Sampled(R"toml(
    grid.shape = [140, 600]
    boundary = {y = "periodic", x = {low = {dirichlet = 7.0}, high = "neumann"}}
    stencil.weights = [[0.02, 0.1, 0.0], [0.3, 0.3, 0.1], [0.08, 0.05, 0.04]]
    initial.expression = "sin(x*1.1 + y*y*0.7)"
    source.expression = "cos(x*y)"
    time.steps = 10
  )toml"),
                           5);
}

TEST(InitialSample, IsTheWholeOfASmallGrid) {
  expect_steps_of_the_grid(Sampled(R"toml(
    grid.shape = [20]
    boundary.x = "periodic"
    stencil.weights = [0.1, 0.2, 0.4, 0.2, 0.1]
    initial.expression = "sin(x*x)"
    time.steps = 10
  )toml"),
                           1);
}

TEST(InitialSample, HasNoMorePartsThanTheGridHasRoomFor) {
  expect_steps_of_the_grid(Sampled(R"toml(
    grid.shape = [129, 129]
    boundary = {y = "neumann", x = {low = {dirichlet = 7.0}, high = "neumann"}}
    stencil.preset = "star2d1r"
    initial.expression = "sin(x*1.1 + y*y*0.7)"
    time.steps = 10
  )toml"),
                           2);
}

TEST(InitialSample, TakesAsManyStepsAsALaunchWhereTheGridIsWhole) {
  const Sampled small(R"toml(
    grid.shape = [20, 20, 20]
    stencil.preset = "star3d1r"
    initial.expression = "sin(x*1.1 + y*y*0.7 + z)"
    time.steps = 10
  )toml");
  expect_steps_of_the_grid(small, 1);
  EXPECT_EQ(small.sample.steps, 64);
}

TEST(InitialSample, MultipliesASourceThatIsARate) {
  expect_steps_of_the_grid(Sampled(R"toml(
    grid.shape = [20, 30]
    stencil = {preset = "heat", diffusivity = 1.0, dt = 0.125}
    initial.expression = "sin(x*1.1 + y*y*0.7)"
    source = {expression = "cos(x*y)", rate = true}
    time.steps = 10
  )toml"),
                           1);
}

TEST(InitialSample, IsOfTheFieldOfEquationsThatAreAStencil) {
  expect_steps_of_the_grid(Sampled(R"toml(
    grid.shape = [20, 30]
    fields.T.initial = "sin(x*1.1 + y*y*0.7)"
    equations.step = "T.next = T + dt*laplace(T)"
    time = {dt = 0.125, steps = 10}
  )toml"),
                           1);
}

TEST(InitialSample, ReachesTheEndsOfEveryAxis) {
  const Sampled sampled(R"toml(
    grid.shape = [50, 10, 150]
    boundary = {z = {low = {dirichlet = 1.0}, high = {dirichlet = 2.0}}, y = "periodic", x = "neumann"}
    stencil.preset = "star3d1r"
    initial.expression = "sin(x*1.1 + y*y*0.7 + z*z*z*0.3)"
    time.steps = 10
  )toml");
  expect_steps_of_the_grid(sampled, 5);
  if (!sampled.world.root()) return;
  const Domain &first = sampled.sample.parts.front().domain, &last = sampled.sample.parts.back().domain;
  EXPECT_EQ(first.faces[z_axis][low], (Face{BoundaryKind::dirichlet, 1.0}));
  EXPECT_EQ(first.faces[z_axis][high], (Face{BoundaryKind::neumann}));
  EXPECT_EQ(last.faces[z_axis][high], (Face{BoundaryKind::dirichlet, 2.0}));
  EXPECT_EQ(first.shape, (Index3{32, 10, 32}));
  EXPECT_TRUE(first.periodic(y_axis));
}

}  // namespace
}  // namespace spsolve
