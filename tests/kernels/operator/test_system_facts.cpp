// SPDX-License-Identifier: Apache-2.0
#include "kernels/operator/system_facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/operator/linearity.hpp"
#include "tests/kernels/operator/random_step.hpp"
#include "tests/support/reference_step.hpp"

namespace spsolve::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

SystemFacts facts_of_example(const std::string& name) {
  for (const ExampleStep& example : example_steps())
    if (example.name == name) return facts_of(canonical_form(system_of(example)));
  throw std::invalid_argument(name);
}

TEST(SystemFacts, AcousticWaves) {
  const SystemFacts facts = facts_of_example("acoustic waves with a sponge in 2D");
  const EquationFacts& p = facts.equations.at(0);
  EXPECT_EQ(p.depends.linearity, Linearity::varying_weights);
  EXPECT_FALSE(p.inexact_functions);
  EXPECT_EQ(p.reach.at({0, Level::now}), (Box{{0, -4, -4}, {1, 5, 5}}));
  EXPECT_EQ(p.reach.at({0, Level::previous}), box_of({1, 1, 1}));
  EXPECT_EQ(facts.radius, (Index3{0, 4, 4}));
  EXPECT_EQ(facts.bytes_per_point(4, 4), 20) << "p twice, (c*dt)^2 and damp, p.next";
  EXPECT_THAT(facts.groups, ElementsAre(Pair(0, 1)));
}

TEST(SystemFacts, YeeIn3DIsTwoGroups) {
  const SystemFacts facts = facts_of_example("Yee in 3D");
  EXPECT_THAT(facts.groups, ElementsAre(Pair(0, 3), Pair(3, 6)));
  EXPECT_EQ(facts.equations[0].depends.linearity, Linearity::constant_weights);
  EXPECT_EQ(facts.equations[3].depends.linearity, Linearity::varying_weights);
  EXPECT_EQ(facts.bytes_per_point(4, 4), 52);
  EXPECT_EQ(facts.radius, (Index3{1, 1, 1}));
  EXPECT_EQ(facts.coefficient_reach.at(0), box_of({1, 1, 1}));
  EXPECT_EQ(facts.reach_now[0], (Box{{-1, -1, -1}, {2, 2, 1}}));  // ex is never ahead in x
}

TEST(SystemFacts, RadiusGoesThroughNextAndDisplacedShorthands) {
  const SystemFacts facts = facts_of_example("elastic P-SV waves");
  // Order 4 reaches one point one way and two the other, twice.
  EXPECT_EQ(facts.radius, (Index3{0, 3, 3}));
  EXPECT_EQ(facts_of_example("flux form in 1D").radius, (Index3{0, 0, 1}));
  EXPECT_EQ(facts_of_example("flux form in 1D").coefficient_reach.at(0), (Box{{0, 0, -1}, {1, 1, 1}}));
}

TEST(SystemFacts, Nonlinear) {
  const SystemFacts facts = facts_of_example("Gray-Scott");
  EXPECT_THAT(facts.equations[0].depends.nonlinear_in, ElementsAre(0, 1));
  EXPECT_EQ(facts.bytes_per_point(4, 4), 16);
  EXPECT_THAT(facts_of_example("FitzHugh-Nagumo").equations[0].depends.nonlinear_in, ElementsAre(0));
  EXPECT_EQ(facts_of_example("FitzHugh-Nagumo").equations[1].depends.linearity, Linearity::constant_weights);
  EXPECT_TRUE(facts_of_example("FitzHugh-Nagumo").equations[1].depends.has_terms_without_fields);
  EXPECT_EQ(facts_of_example("upwind advection").equations[0].depends.linearity, Linearity::varying_weights);
  EXPECT_EQ(facts_of_example("masked domain").equations[0].depends.linearity, Linearity::varying_weights);
}

TEST(SystemFacts, InexactFunctionsAreThoseOfARun) {
  StepNames names;
  names.dimensions = 1;
  names.fields = {"u"};
  names.coefficients = {"k"};
  const auto equation = [&](const std::string& value) {
    return facts_of(canonical_form(resolve_step(parse_step("u.next = " + value), names))).equations[0];
  };
  EXPECT_FALSE(equation("u*exp(k) + sin(t)").inexact_functions);
  EXPECT_TRUE(equation("exp(u)").inexact_functions);
  EXPECT_TRUE(equation("u*exp(k*t)").inexact_functions);
  EXPECT_TRUE(equation("u^1.5").inexact_functions);
  EXPECT_FALSE(equation("sqrt(u) + u^3").inexact_functions);
  EXPECT_EQ(equation("u + sin(t)").depends.linearity, Linearity::constant_weights);
  EXPECT_EQ(equation("u*sin(t)").depends.linearity, Linearity::varying_weights);
}

TEST(SystemFacts, TextSaysWhatIsRead) {
  const Canonical canonical = canonical_form(system_of(example_steps().front()));
  EXPECT_EQ(text_of(facts_of(canonical).equations[0], canonical),
            "linear, weights that vary; reads p.previous, p at [-4..4, -4..4]");
}

/// Changes one value far from the others and looks where the next state changes.
TEST(SystemFacts, ReachAndLinearityHoldForRandomSteps) {
  std::mt19937 random(17);
  for (unsigned seed = 0; seed < 300; ++seed) {
    const ExampleStep example = RandomStep(seed, seed % 2 == 0).step();
    const System system = system_of(example);
    const SystemFacts facts = facts_of(canonical_form(system));
    RandomProblem problem(example, random, 1);
    for (Domain& domain : problem.context.fields) {
      domain.faces = {};
      for (int axis = domain.first_axis(); axis < axis_count; ++axis)
        domain.shape[axis] = domain.dimensions == 3 ? 13 : 41;
    }
    const Index3 shape = problem.context.shape();
    for (auto* arrays : {&problem.context.coefficients, &problem.state.now, &problem.state.previous})
      for (auto& array : *arrays) array.assign(volume(shape), 0.0);
    make_whole(problem, random);
    const auto before = reference_step(system, problem.context, problem.state);
    const std::size_t field = random() % problem.state.now.size();
    const Index3 middle{shape[0] / 2, shape[1] / 2, shape[2] / 2};
    const bool now = random() % 2;
    const auto middle_index = static_cast<std::size_t>(index_of(middle, shape));
    (now ? problem.state.now : problem.state.previous)[field][middle_index] += 1.0;
    const auto after = reference_step(system, problem.context, problem.state);
    const Box& reach = (now ? facts.reach_now : facts.reach_previous)[field];
    for (const EquationFacts& equation : facts.equations)
      for_each_point(box_of(shape), [&](const Index3& p) {
        const auto i = static_cast<std::size_t>(index_of(p, shape));
        if (before.now[equation.field][i] == after.now[equation.field][i]) return;
        const Index3 offset = middle - p;
        const bool wraps = shape[2] <= 2 * facts.radius[2] ||
                           (shape[1] > 1 && shape[1] <= 2 * facts.radius[1]) ||
                           (shape[0] > 1 && shape[0] <= 2 * facts.radius[0]);
        EXPECT_TRUE(wraps || contains(reach, offset)) << "seed " << seed << "\n" << example.step;
      });
    if (seed % 2 == 0) {
      for (const EquationFacts& equation : facts.equations)
        EXPECT_EQ(equation.depends.linearity, Linearity::constant_weights) << example.step;
    }
  }
}

}  // namespace
}  // namespace spsolve::testing
