// SPDX-License-Identifier: Apache-2.0
// These tests compare derived coefficients by rows with those by points, bit by bit, beyond faces too.
#include <gtest/gtest.h>

#include <bit>

#include "kernels/operator/canonical.hpp"
#include "kernels/operator/interpret_rows.hpp"
#include "tests/kernels/operator/given_rows.hpp"
#include "tests/kernels/operator/random_step.hpp"

namespace spsolve {
namespace {

/// Compares both interpreters on a box that reaches beyond the faces. Returns the number of terms.
int expect_same_bits(const Terms& terms, const std::vector<TermId>& ids, const StepContext& context,
                     const std::string& text) {
  const Box box = grow(context.fields.front().box(), {2, 2, 5});
  for (const TermId id : ids) {
    const std::vector<double> expected = interpret(terms, id, box, given_values(context, 3));
    std::vector<double> found(expected.size(), -1.0);
    interpret_rows(terms, id, box, testing::given_rows(context, 3),
                   [&](const Index3& first, std::span<const double> values) {
                     std::copy(values.begin(), values.end(),
                               found.begin() + index_of(first - box.begin, box.extent()));
                   });
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (std::isnan(found[i]) && std::isnan(expected[i])) continue;
      EXPECT_EQ(std::bit_cast<std::uint64_t>(found[i]), std::bit_cast<std::uint64_t>(expected[i]))
          << "point " << i << " of term " << id << "\n"
          << text;
    }
    if (::testing::Test::HasFailure()) break;
  }
  return static_cast<int>(ids.size());
}

TEST(InterpretRows, HasTheBitsOfInterpretForCoefficientsOfExamples) {
  std::mt19937 random(21);
  int compared = 0;
  for (const testing::ExampleStep& example : testing::example_steps())
    for (int repeat = 0; repeat < 3; ++repeat) {
      const testing::RandomProblem problem(example, random);
      const Canonical canonical = canonical_form(testing::system_of(example));
      compared += expect_same_bits(canonical.terms, canonical.coefficients, problem.context, example.step);
    }
  EXPECT_GT(compared, 20);
}

TEST(InterpretRows, HasTheBitsOfInterpretForAllOperations) {
  const std::string step = R"(
    a = sqrt(k)*x/7 - y^2 + max(k, z, 0.5) + min(k, m)*abs(k - m)
    b = (k > m && z < 1 || k == m) ? -sin(k*t) : exp(-m) + step
    e = laplace(a*b, order=4) + d(m/k, x, at=0.5)[0, 1, -2] + mean(b, y, at=-0.5)
    u.next = u*e + a + clamp(b, 0.2, 0.4) + smoothstep(0, 1, k)
  )";
  testing::ExampleStep example{"all", {}, step};
  example.names.dimensions = 3;
  example.names.spacing = {1.25, 0.75, 1.0};
  example.names.dt = 0.125;
  example.names.fields = {"u"};
  example.names.coefficients = {"k", "m"};
  std::mt19937 random(22);
  for (int repeat = 0; repeat < 5; ++repeat) {
    const testing::RandomProblem problem(example, random);
    const System system = testing::system_of(example);
    // `ids` are all terms except those that read fields.
    std::vector<TermId> ids;
    std::vector<bool> reads_fields(static_cast<std::size_t>(system.terms.size()));
    for (TermId id = 0; id < system.terms.size(); ++id) {
      const Term& term = system.terms[id];
      bool reads = term.kind == TermKind::field;
      for (const TermId operand : term.operands) reads = reads || reads_fields[operand];
      reads_fields[id] = reads;
      if (!reads) ids.push_back(id);
    }
    EXPECT_GT(expect_same_bits(system.terms, ids, problem.context, step), 40);
  }
}

}  // namespace
}  // namespace spsolve
