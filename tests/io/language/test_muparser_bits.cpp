// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <muParser.h>

#include <bit>
#include <cmath>
#include <numbers>

#include "tests/io/language/random_expression.hpp"
#include "tests/io/language/row_values.hpp"

// Formulas of [initial] were evaluated by muParser. Their values keep its bits.

namespace spsolve::testing {
namespace {

/// Evaluates formulas of coordinates by muParser.
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

std::uint64_t bits(double number) { return std::isnan(number) ? 0 : std::bit_cast<std::uint64_t>(number); }

TEST(MuParserBits, HasThePrecedenceOfMuParser) {
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
    EXPECT_EQ(bits(values(text, {2.0}, 3.0, 5.0)[0]), bits(MuParser(text)(2.0, 3.0, 5.0)));
  }
}

TEST(MuParserBits, HasTheBitsOfMuParser) {
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

}  // namespace
}  // namespace spsolve::testing
