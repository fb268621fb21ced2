// SPDX-License-Identifier: Apache-2.0
#include "io/language/row_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "tests/io/language/row_values.hpp"

namespace spsolve::testing {
namespace {

using ::testing::HasSubstr;

double value(const std::string& text) { return values(text, {2.0}, 3.0, 5.0)[0]; }

TEST(RowProgram, HasFurtherFunctions) {
  EXPECT_EQ(value("ricker(0, 7)"), 1.0);
  const double a = std::pow(std::numbers::pi * 15 * 0.01, 2);
  EXPECT_NEAR(value("ricker(0.01, 15)"), (1 - 2 * a) * std::exp(-a), 1e-15);
  const volatile double two = 2.0;  // compilers and libraries differ in the last bits
  EXPECT_EQ(value("erf(x)"), std::erf(two));
  EXPECT_EQ(value("erfc(x)"), std::erfc(two));
  EXPECT_EQ(value("heaviside(x) + 10*heaviside(-x) + 100*heaviside(0)"), 51.0);
  EXPECT_EQ(value("mod(-1, y)"), 2.0);
  EXPECT_EQ(value("mod(1, -y)"), -2.0);
  EXPECT_EQ(value("mod(7, y)"), 1.0);
  EXPECT_EQ(value("clamp(z, 0, 4) + clamp(-z, -1, 4)*10 + clamp(x, 0, 4)*100"), 194.0);
  EXPECT_EQ(value("smoothstep(2, 4, y) + 10*smoothstep(2, 4, 1) + 100*smoothstep(2, 4, z)"), 100.5);
}

TEST(RowProgram, MeansNotZeroByTrue) {
  EXPECT_EQ(value("0.5 && 0.5"), 1.0);
  EXPECT_EQ(value("0 || 0.1"), 1.0);
}

TEST(RowProgram, TakesRowsOfAnyLength) {
  const std::string text = "(x > 500 ? y : z) + 2*x";
  std::vector<double> x(1000);
  std::iota(x.begin(), x.end(), 0.0);
  const std::vector<double> row = values(text, x, 3.0, 5.0);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(row[i], values(text, {x[i]}, 3.0, 5.0)[0]) << i;
}

TEST(RowProgram, LongChainsNeitherOverflowNorTakeMuchMemory) {
  std::string sum = "x";
  for (int i = 0; i < 100000; ++i) sum += "+y*x";
  EXPECT_EQ(value(sum), 2.0 + 600000.0);
}

/// Returns the message about a formula of x and of the constant c.
std::string error_in(const std::string& text) {
  try {
    const RowProgram program(parse_expression(text), {{{"x"}, {"width"}}, {{"c", 1.0}}});
  } catch (const SyntaxError& error) {
    return error.what();
  }
  return "";
}

TEST(RowProgram, NamesWhatItDoesNotKnow) {
  EXPECT_EQ(error_in("2*widht"),
            "line 1, column 3: found the unknown name 'widht'; wanted one of pi, x, width, c (is it "
            "'width'?)\n  2*widht\n    ^");
  EXPECT_THAT(error_in("sin"), HasSubstr("wanted 'sin(...)'"));
  EXPECT_THAT(error_in("sine(x)"), HasSubstr("(is it 'sin'?)"));
  EXPECT_THAT(error_in("x[1]"), HasSubstr("column 2: found '['; wanted an expression of one point"));
  EXPECT_THAT(error_in("x.previous"), HasSubstr("found 'x.previous'"));
  EXPECT_THAT(error_in("d(x, x)"), HasSubstr("found 'd(...)'"));
  EXPECT_THAT(error_in("correlate(c, x)"), HasSubstr("found 'correlate(...)'"));
}

}  // namespace
}  // namespace spsolve::testing
