// SPDX-License-Identifier: Apache-2.0
#include "kernels/operator/repeating_form.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "io/language/parser.hpp"
#include "io/language/resolve.hpp"
#include "tests/kernels/operator/random_step.hpp"
#include "tests/support/evaluate_canonical.hpp"

namespace spsolve::testing {
namespace {

/// Returns a random step and example steps in turn.
ExampleStep step_of(unsigned seed) {
  const std::vector<ExampleStep> examples = example_steps();
  return seed < examples.size() ? examples[seed] : RandomStep(seed, false).step();
}

TEST(RepeatingForm, HasTheBitsOfTheFormItReplaces) {
  std::mt19937 random(7);
  for (unsigned seed = 0; seed < 1000; ++seed) {
    const ExampleStep example = step_of(seed);
    const Canonical canonical = canonical_form(system_of(example));
    const RandomProblem problem(example, random, 5);
    const Canonical repeating = repeating_form(canonical, problem.context.fields.front());
    const auto expected = canonical_step(canonical, problem.context, problem.state),
               found = canonical_step(repeating, problem.context, problem.state);
    for (std::size_t field = 0; field < found.now.size(); ++field)
      for (std::size_t i = 0; i < found.now[field].size(); ++i) {
        const double a = found.now[field][i], b = expected.now[field][i];
        ASSERT_TRUE(std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
                    (std::isnan(a) && std::isnan(b)))
            << "seed " << seed << ", field " << field << ", point " << i << ": " << a << ", not " << b << "\n"
            << example.step << text_of(canonical) << text_of(repeating);
      }
  }
}

/// Coordinates of other axes, and coefficients of the input, are still read displaced.
TEST(RepeatingForm, ReadsCoordinatesOfPeriodicAxesAtThePointAlone) {
  StepNames names;
  names.dimensions = 2;
  names.fields = {"u", "v"};
  names.coefficients = {"k"};
  const System system = resolve_step(parse_step(R"(
    u.next = d(x*u, x) + d(y*u, y) + (x + k)*u[1, 0]
    v.next = laplace(u.next*k)
  )"),
                                     names);
  Domain domain{2, {1, 4, 6}, {}};
  const auto coefficients = [&] {
    const std::string text = text_of(repeating_form(canonical_form(system), domain));
    return text.substr(0, text.find("n1"));
  };
  EXPECT_EQ(coefficients(),
            "k1 = x[0, -1]  (one value per point)\nk2 = x[0, 1]  (one value per point)\n"
            "k3 = y[-1, 0]  (one value per point)\nk4 = y[1, 0]  (one value per point)\n"
            "k5 = x + k  (one value per point)\nk6 = k  (one value per point)\n");
  domain.faces[y_axis] = {Face{BoundaryKind::neumann}, Face{BoundaryKind::neumann}};
  EXPECT_EQ(coefficients(),
            "k1 = x[0, -1]  (one value per point)\nk2 = x[0, 1]  (one value per point)\n"
            "k3 = y  (one value per point)\nk4 = x + k  (one value per point)\n"
            "k5 = k  (one value per point)\n");
}

TEST(RepeatingForm, IsTheSameFormWithoutDisplacedCoordinates) {
  const Domain grid{3, {8, 8, 8}, {}};
  for (const ExampleStep& example : example_steps()) {
    const Canonical canonical = canonical_form(system_of(example));
    bool has_coordinates = false;
    for (TermId id = 0; id < canonical.terms.size(); ++id)
      has_coordinates = has_coordinates || canonical.terms[id].kind == TermKind::coordinate;
    if (!has_coordinates) {
      EXPECT_EQ(text_of(repeating_form(canonical, grid)), text_of(canonical)) << example.name;
    }
  }
}

}  // namespace
}  // namespace spsolve::testing
