// SPDX-License-Identifier: Apache-2.0
#include "kernels/operator/canonical.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/operator/evaluate_canonical.hpp"
#include "kernels/operator/reference_step.hpp"
#include "tests/kernels/operator/example_steps.hpp"

namespace spsolve::testing {
namespace {

using ::testing::HasSubstr;
using Kind = CanonicalNode::Kind;

/// How many operations stand between the state and a point of the next one, at most.
double operations_of(const Canonical& canonical) {
  double count = 1;
  for (const CanonicalNode& node : canonical.nodes) {
    count += node.kind == Kind::operation ? 1.0 + static_cast<double>(node.operands.size()) : 1.0;
    for (const Link& link : node.links) count += static_cast<double>(link.stencil.taps().size());
  }
  return count;
}

double largest(const State<double>& state) {
  double most = 1.0;  // walls and coefficients are not above it
  for (const auto* level : {&state.now, &state.previous})
    for (const auto& field : *level)
      for (const double value : field) most = std::max(most, std::abs(value));
  return most;
}

/// Compares the canonical form in precision T with the reference after every step. A step rounds what is as
/// large as the values it reads times the sum of its weights, which the examples keep below 64.
template <class T>
void expect_close(const ExampleStep& example, const Canonical& canonical, const System& system,
                  const RandomProblem& problem, int steps) {
  State<double> expected = problem.state;
  State<T> state{{}, {}, expected.step};
  for (const auto& field : expected.now) state.now.emplace_back(field.begin(), field.end());
  for (const auto& field : expected.previous) state.previous.emplace_back(field.begin(), field.end());
  double bound = 0.0;
  for (int step = 1; step <= steps; ++step) {
    expected = reference_step(system, problem.surroundings, expected);
    state = canonical_step(canonical, problem.surroundings, state);
    bound =
        4.0 * bound + operations_of(canonical) * 64.0 * largest(expected) * std::numeric_limits<T>::epsilon();
    for (std::size_t field = 0; field < state.now.size(); ++field)
      for (std::size_t i = 0; i < state.now[field].size(); ++i)
        ASSERT_NEAR(state.now[field][i], expected.now[field][i], bound)
            << example.name << ", step " << step << ", field " << field << ", point " << i;
  }
}

TEST(Canonical, IsTheReferenceForAllExamplesAndWalls) {
  std::mt19937 random(3);
  for (const ExampleStep& example : example_steps()) {
    const System system = system_of(example);
    const Canonical canonical = canonical_form(system);
    for (int repeat = 0; repeat < 20; ++repeat) {
      const RandomProblem problem(example, random, example.names.dimensions == 3 ? 5 : 9);
      expect_close<double>(example, canonical, system, problem, 4);
      expect_close<float>(example, canonical, system, problem, 2);
    }
  }
}

}  // namespace
}  // namespace spsolve::testing
