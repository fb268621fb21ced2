// SPDX-License-Identifier: Apache-2.0
#include "kernels/operator/terms.hpp"

#include <gtest/gtest.h>

#include "tests/io/language/random_expression.hpp"
#include "tests/kernels/operator/example_steps.hpp"

namespace spsolve::testing {
namespace {

TEST(Terms, ShareEqualParts) {
  Terms terms;
  const TermId u = terms.field(0, Level::now), k = terms.coefficient(0);
  EXPECT_EQ(terms.operation(Operation::add, {u, k}), terms.operation(Operation::add, {u, k}));
  EXPECT_NE(terms.operation(Operation::add, {u, k}), terms.operation(Operation::add, {k, u}));
  EXPECT_NE(u, terms.field(0, Level::previous));
  EXPECT_NE(terms.number(0.0), terms.number(-0.0));
}

TEST(Terms, ComputeWhatNumbersDetermine) {
  Terms terms;
  EXPECT_EQ(terms.operation(Operation::multiply, {terms.number(2), terms.number(3)}), terms.number(6));
  EXPECT_EQ(terms.displaced(terms.number(2), {0, 0, 1}), terms.number(2));
  EXPECT_EQ(terms.displaced(terms.time(), {0, 0, 1}), terms.time());
  const TermId u = terms.field(0, Level::now);
  EXPECT_EQ(terms.displaced(terms.displaced(u, {1, 0, 2}), {-1, 0, -2}), u);
}

TEST(SameStatements, CountAndNotHowTheyAreWritten) {
  StepNames names;
  names.fields = {"u", "v"};
  names.coefficients = {"k", "m"};
  const auto system = [&](const std::string& step) { return resolve_step(parse_step(step), names); };
  const System was = system("a = k*u[0, 0, 1]; b = laplace(u)\nu.next = a + b*m*sin(t)\nv.next = v");
  names.coefficients = {"extra", "m", "k"};
  EXPECT_TRUE(same_statements(was, system("b = laplace(u); c = u[0, 0, 1]; e = extra*u\n"
                                          "u.next = k*c + b*m*sin(t)  # the same\nv.next = v")));
  for (const char* other : {"u.next = k*u[0, 0, 1] + laplace(u)*k*sin(t); v.next = v",
                            "u.next = k*u[0, 0, 2] + laplace(u)*m*sin(t); v.next = v",
                            "u.next = k*u[0, 0, 1] + laplace(u, order=4)*m*sin(t); v.next = v",
                            "u.next = k*u[0, 0, 1] + laplace(u)*m*cos(t); v.next = v",
                            "u.next = k*u[0, 0, 1] + laplace(u)*extra*sin(t); v.next = v",
                            "u.next = k*u[0, 0, 1] + laplace(u)*m*sin(t); v.next = u",
                            "v.next = v; u.next = k*u[0, 0, 1] + laplace(u)*m*sin(t)"})
    EXPECT_FALSE(same_statements(was, system(other))) << other;
  names.fields = {"w", "v"};
  EXPECT_FALSE(same_statements(was, system("w.next = k*w[0, 0, 1] + laplace(w)*m*sin(t); v.next = v")));
}

/// Text that was not shortened reads back as the same term.
TEST(Terms, TextReadsBack) {
  RandomExpression random(31);
  StepNames names;
  names.fields = {"u", "v"};
  int compared = 0;
  for (int repeat = 0; repeat < 3000; ++repeat) {
    const std::string expression = random.text(1 + repeat % 4);
    const System system =
        resolve_step(parse_step("u.next = (" + expression + ")[0, 0, 1]*u.previous\nv.next = v"), names);
    const std::string text = text_of(system.terms, system.statements[0].value, {3, names.fields, {}});
    // The text is shortened, or holds a number that the language cannot express.
    if (text.find("...") != std::string::npos || text.find("nan") != std::string::npos ||
        text.find("inf") != std::string::npos)
      continue;
    const System both = resolve_step(
        parse_step("u.next = (" + expression + ")[0, 0, 1]*u.previous\nv.next = " + text), names);
    ASSERT_EQ(both.statements[0].value, both.statements[1].value) << expression << "\n" << text;
    ++compared;
  }
  EXPECT_GT(compared, 2000);
}

}  // namespace
}  // namespace spsolve::testing
