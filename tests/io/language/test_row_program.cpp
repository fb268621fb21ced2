// SPDX-License-Identifier: Apache-2.0
#include "io/language/row_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <muParser.h>

#include <bit>
#include <cmath>
#include <numbers>

#include "io/language/parser.hpp"
#include "tests/io/language/random_expression.hpp"

namespace spsolve::testing {
namespace {

using ::testing::HasSubstr;

/// muParser as it was used for formulas of coordinates.
class MuParser {
 public:
  explicit MuParser(const std::string& text) {
    using Unary = double (*)(double);
    using Binary = double (*)(double, double);
    parser_.DefineConst("pi", std::numbers::pi);
    for (const auto& [name, function] : {std::pair<const char*, Unary>{"rint", std::rint},
                                         {"floor", std::floor},
                                         {"ceil", std::ceil},
                                         {"trunc", std::trunc}})
      parser_.DefineFun(name, function);
    for (const auto& [name, function] :
         {std::pair<const char*, Binary>{"fmod", std::fmod}, {"hypot", std::hypot}, {"pow", std::pow}})
      parser_.DefineFun(name, function);
    for (int i = 0; i < 3; ++i) parser_.DefineVar(std::string(1, "xyz"[i]), &at_[i]);
    parser_.SetExpr(text);
  }
  double operator()(double x, double y, double z) {
    at_ = {x, y, z};
    return parser_.Eval();
  }

 private:
  std::array<double, 3> at_{};
  mu::Parser parser_;
};

/// The values of a formula of x, y and z, of which only x varies, at points x.
std::vector<double> values(const std::string& text, const std::vector<double>& x, double y, double z) {
  const RowProgram program(parse_expression(text), {{{"x"}, {"y", false}, {"z", false}}});
  std::vector<double> out(x.size()), workspace;
  const std::array<const double*, 3> rows{x.data(), &y, &z};
  program.evaluate(rows, out, workspace);
  return out;
}

double value(const std::string& text) { return values(text, {2.0}, 3.0, 5.0)[0]; }

std::uint64_t bits(double number) { return std::isnan(number) ? 0 : std::bit_cast<std::uint64_t>(number); }

TEST(RowProgram, HasThePrecedenceOfMuParser) {
  for (const char* text : {"-2^2",
                           "2^3^2",
                           "2^-1",
                           "2^-x^2",
                           "2-+3",
                           "2*-3",
                           "-x^2",
                           "-x*y",
                           "-x^-y^2",
                           "0 ? 1 : 0 ? 4 : 5",
                           "1 ? 0 ? 7 : 8 : 9",
                           "1 ? 2 : 3 + 1",
                           "0||1 && 0",
                           "1 || 0 && 0",
                           "(1 || 0) && 0",
                           "1 + 2 < 4",
                           "1 < 2 && 3",
                           "x && y",
                           "x*2*3",
                           "x + x*0.1 - 0.3*x",
                           "(x*3 + 1)/7*0.1",
                           "x/3 + 1",
                           "1 - x",
                           "x-x",
                           "x*x",
                           "x^4",
                           "x^1 + x",
                           "x^0*y",
                           "sum(1,2,3)",
                           "avg(1,2,3,4)",
                           "max(3,1,2)",
                           "log2(y)",
                           "1.e3",
                           "1E-3",
                           ".5",
                           "5.",
                           "z/x/y",
                           "z-x-y",
                           "x\n + y",
                           "2 != 3",
                           "x == 2 ? y > 5 ? 1 : 2 : 3",
                           "max(1,2)*x*3",
                           "(1?2:3)*x*3",
                           "_pi*x",
                           "_e"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(bits(value(text)), bits(MuParser(text)(2.0, 3.0, 5.0)));
  }
}

TEST(RowProgram, HasTheBitsOfMuParser) {
  RandomExpression random(11);
  std::vector<double> x;
  for (int i = 0; i < 37; ++i) x.push_back(-1.7 + 0.1 * i);
  for (int repeat = 0; repeat < 20000; ++repeat) {
    const std::string text = random.text(1 + repeat % 5);
    MuParser expected(text);
    const auto row = values(text, x, 0.7, -1.3);
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(bits(row[i]), bits(expected(x[i], 0.7, -1.3)))
          << text << " at x = " << x[i] << ": " << row[i] << ", " << expected(x[i], 0.7, -1.3);
  }
}

TEST(RowProgram, HasFurtherFunctions) {
  EXPECT_EQ(value("ricker(0, 7)"), 1.0);
  const double a = std::pow(std::numbers::pi * 15 * 0.01, 2);
  EXPECT_NEAR(value("ricker(0.01, 15)"), (1 - 2 * a) * std::exp(-a), 1e-15);
  const volatile double two = 2.0;  // compilers know other last bits than libraries
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

TEST(RowProgram, LongChainsNeitherOverflowNorTakeMuchMemory) {
  std::string sum = "x";
  for (int i = 0; i < 100000; ++i) sum += "+y*x";
  EXPECT_EQ(value(sum), 2.0 + 600000.0);
}

/// The message about a formula of x and of the constant c.
std::string error_in(const std::string& text) {
  try {
    const RowProgram program(parse_expression(text), {{{"x"}, {"width"}}, {{"c", 1.0}}, "; no time here"});
  } catch (const SyntaxError& error) {
    return error.what();
  }
  return "";
}

TEST(RowProgram, NamesWhatItDoesNotKnow) {
  EXPECT_EQ(
      error_in("2*widht"),
      "line 1, column 3: found the unknown name 'widht'; wanted one of pi, x, width, c (is it 'width'?); no "
      "time here\n  2*widht\n    ^");
  EXPECT_THAT(error_in("sin"), HasSubstr("wanted 'sin(...)'"));
  EXPECT_THAT(error_in("sine(x)"), HasSubstr("(is it 'sin'?)"));
  EXPECT_THAT(error_in("x[1]"), HasSubstr("column 2: found '['; wanted an expression of one point"));
  EXPECT_THAT(error_in("x.previous"), HasSubstr("found 'x.previous'"));
  EXPECT_THAT(error_in("d(x, x)"), HasSubstr("found 'd(...)'"));
  EXPECT_THAT(error_in("correlate(c, x)"), HasSubstr("found 'correlate(...)'"));
}

}  // namespace
}  // namespace spsolve::testing
