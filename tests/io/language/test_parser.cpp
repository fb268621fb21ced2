// SPDX-License-Identifier: Apache-2.0
#include "io/language/parser.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace spsolve::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Refusal {
  Position position{0, 0};
  std::string found, wanted, message;
};

Refusal refusal_of(const std::string& text, Syntax (*parse)(std::string_view)) {
  try {
    parse(text);
  } catch (const SyntaxError& error) {
    EXPECT_EQ(error.status(), Status::invalid_input);
    return {error.position(), error.found(), error.wanted(), error.what()};
  }
  return {};
}

struct Mistake {
  const char* text;
  Position position;
  const char* found;
  const char* wanted;
};

void expect_refused(const std::vector<Mistake>& mistakes, Syntax (*parse)(std::string_view)) {
  for (const Mistake& mistake : mistakes) {
    SCOPED_TRACE(mistake.text);
    const Refusal refusal = refusal_of(mistake.text, parse);
    EXPECT_EQ(refusal.position.line, mistake.position.line);
    EXPECT_EQ(refusal.position.column, mistake.position.column);
    EXPECT_EQ(refusal.found, mistake.found);
    EXPECT_THAT(refusal.wanted, HasSubstr(mistake.wanted));
  }
}

TEST(Parser, SaysWhereAnExpressionIsWrong) {
  expect_refused(
      {
          {"", {1, 1}, "the end of the text", "an expression"},
          {"x +* 2", {1, 4}, "'*'", "a number, a name, a function or '('"},
          {"sin(x", {1, 6}, "the end of the text", "',' or ')'"},
          {"sin(x))", {1, 7}, "')'", "an operator, or the end"},
          {"(x", {1, 3}, "the end of the text", "an operator or ')'"},
          {"()", {1, 2}, "')'", "a number"},
          {"2x", {1, 2}, "'x'", "an operator, as in '2*x'"},
          {"sin x", {1, 5}, "'x'", "brackets as in 'sin(x)'"},
          {"x y", {1, 3}, "'y'", "an operator, as in 'x*y'"},
          {"2 (3)", {1, 3}, "'('", "an operator"},
          {"1.5.2", {1, 4}, "the number .2", "an operator"},
          {"1e400", {1, 1}, "the number 1e400", "double precision"},
          {"1, 2", {1, 2}, "','", "an operator"},
          {"1; 2", {1, 2}, "';'", "an operator"},
          {"1 ? 2", {1, 6}, "the end of the text", "':'"},
          {"1 : 2", {1, 3}, "':'", "an operator"},
          {"min()", {1, 5}, "0 arguments of 'min'", "1 to 64"},
          {"sin(1, 2)", {1, 9}, "2 arguments of 'sin'", "1"},
          {"max(1,)", {1, 7}, "')'", "a number"},
          {"clamp(1)", {1, 8}, "1 argument of 'clamp'", "3"},
          {"2 < x < 5", {1, 7}, "a second comparison '<'", "one comparison, as in '2 < x && x < 5'"},
          {"0 <= (x + 1) == y*2 ? 1 : 0",
           {1, 14},
           "a second comparison '=='",
           "one comparison, as in '0 <= (x + 1) && (x + 1) == y*2'"},
          {"(2 < x) < 5",
           {1, 9},
           "'<' between '5' and the result of a comparison, which is 0 or 1",
           "'2 < x && x < 5'"},
          {"5 >= (x > y)",
           {1, 3},
           "'>=' between '5' and the result of a comparison, which is 0 or 1",
           "comparisons joined by '&&'"},
          {"5 >= ((x < y) >= (y < 3))",
           {1, 3},
           "'>=' between '5' and the result of a comparison, which is 0 or 1",
           "comparisons joined by '&&'"},
          {"(x < y) < (y && 3) + 1",
           {1, 9},
           "'<' between '(y && 3) + 1' and the result of a comparison, which is 0 or 1",
           "comparisons joined by '&&'"},
          {"x ** 2", {1, 3}, "'**'", "'^' for powers"},
          {"x = 2", {1, 3}, "'='", "'==' for equality"},
          {"x <> 2", {1, 3}, "'<>'", "'!='"},
          {"x and y", {1, 3}, "'and'", "'&&'"},
          {"x or y", {1, 3}, "'or'", "'||'"},
          {"not x", {1, 1}, "'not'", "'a == 0'"},
          {"!x", {1, 1}, "'!'", "'a == 0'"},
          {"x AND y", {1, 3}, "'AND'", "'&&'"},
          {"x .Or. y", {1, 4}, "'Or'", "'||'"},
          {"NOT x", {1, 5}, "'x'", "'a == 0'"},
          {"x xor y", {1, 3}, "'xor'", "'!='"},
          {"x .gt. y", {1, 4}, "'gt'", "'>'"},
          {"x mod 2", {1, 3}, "'mod'", "'mod(a, b)'"},
          {"1d-3", {1, 2}, "'d'", "'1*d'; numbers have digits, a point and an exponent"},
          {"1.5F", {1, 4}, "'F'", "'1.5*F'; numbers have digits"},
          {"0x10", {1, 2}, "'x10'", "'0*x10'; numbers have digits"},
          {"1_000", {1, 2}, "'_000'", "'1*_000'; numbers have digits"},
          {"x & y", {1, 3}, "'&'", "'&&'"},
          {"x | y", {1, 3}, "'|'", "'||'"},
          {"x % y", {1, 3}, "'%'", "'mod(a, b)'"},
          {"x // y", {1, 3}, "'//'", "floor(a/b)"},
          {"{x}", {1, 1}, "'{'", "'('"},
          {"~x", {1, 1}, "'~'", "'a == 0'"},
          {"x @ y", {1, 3}, "'@'", "an operator"},
          {"\"x\"", {1, 1}, "the character '\"'", "a name"},
          {"äx + é", {1, 1}, "the character 'ä'", "a name"},
          {"x + \n  y + \x01", {2, 7}, "the byte 0x01", "a name"},
          {"x.next2", {1, 3}, "'next2'", "'x.previous' or 'x.next'"},
          {"x[1", {1, 4}, "the end of the text", "',' or ']'"},
          {"d(x)", {1, 4}, "')'", "an axis"},
          {"d(x, 2)", {1, 6}, "the number 2", "the name of an axis"},
          {"d(x, x, 1, 2)", {1, 12}, "the number 2", "'order=...' or 'at=...'"},
          {"d(x, x, order=2, order=4)", {1, 18}, "'order'", "'order=' once"},
          {"d(x, x, odrer=2)", {1, 9}, "'odrer'", "'order=...' or 'at=...'"},
          {"mean(x, x, 2)", {1, 12}, "the number 2", "'order=...' or 'at=...'"},
          {"laplace(x, 4)", {1, 12}, "the number 4", "'order=...'"},
          {"laplace(x,", {1, 11}, "the end of the text", "'order=...'"},
          {"laplace(x, at=0.5)", {1, 12}, "'at'", "'order=...'"},
          {"correlate(2, x)", {1, 11}, "the number 2", "the name of weights"},
          {"correlate(w)", {1, 12}, "')'", "what is to be correlated"},
      },
      parse_expression);
}

TEST(Parser, TellsFactorsFromSuffixesAndFortran) {
  for (const char* text : {"2u", "2.5u", "3f", "3f1", "2d", "2.5d - x", "2l", "2e", "2q+x"}) {
    SCOPED_TRACE(text);
    EXPECT_THAT(refusal_of(text, parse_expression).wanted,
                AllOf(StartsWith("an operator, as in '"), Not(HasSubstr("numbers"))));
  }
  for (const char* text : {"1d3", "1d+3", "1.5q-2", "2.f", "1.5L", "0b1"}) {
    SCOPED_TRACE(text);
    EXPECT_THAT(refusal_of(text, parse_expression).wanted, HasSubstr("numbers have digits"));
  }
  // These names are comparisons of Fortran, but no point stands on both sides.
  EXPECT_EQ(refusal_of("2 ne", parse_expression).wanted, "an operator, as in '2*ne'");
  EXPECT_EQ(refusal_of("Le 2", parse_expression).wanted, refusal_of("Lf 2", parse_expression).wanted);
  EXPECT_EQ(refusal_of("Le x", parse_expression).wanted, "an operator, as in 'Le*x'");
  EXPECT_EQ(refusal_of("x.ne", parse_expression).wanted, "'x.previous' or 'x.next'");
}

TEST(Parser, OrdersResultsOfComparisons) {
  for (const char* text : {"(x < y) >= (y < 3)", "(x < y) < (x == y)", "(x && y) <= (x > y)",
                           "(x > y) > (x || y)", "(2 < x) >= 1", "0.5 < (x < y)"})
    EXPECT_NO_THROW(parse_expression(text)) << text;
}

TEST(Parser, SaysWhereAStepIsWrong) {
  expect_refused(
      {
          {"u.next = u\n2*u", {2, 1}, "the number 2", "a statement"},
          {"u.previous = u", {1, 3}, "'previous'", "'u.next = ...'"},
          {"u.next == u", {1, 8}, "'=='", "'=' after 'u.next'"},
          {"u[1] = 3", {1, 2}, "'['", "'=' after 'u'"},
          {"a = u\n\nb = ;", {3, 5}, "';'", "a number"},
          {"u.next = u +\n  2*u", {1, 13}, "the end of the line", "a number"},
          {"u.next = 0 < u < 1", {1, 16}, "a second comparison '<'", "'0 < u && u < 1'"},
          {"# comment\nu.next = u u", {2, 12}, "'u'", "an operator, as in 'u*u'"},
          {"u.next = (u", {1, 12}, "the end of the text", "')'"},
          {"u.next = u*(1 + v\nv.next = v", {2, 1}, "'v'", "')' for the '(' of line 1, column 12"},
          {"u.next = u[0, 1\nv.next = v", {2, 1}, "'v'", "']' for the '[' of line 1, column 11"},
          {"u.next = max(u,\nv.next = v", {2, 8}, "'='", "')' for the '(' of line 1, column 13"},
          {"u.next = max(u,\n * v)", {2, 2}, "'*'", "a number"},
      },
      parse_step);
}

TEST(Parser, ShowsTheLineWithACaret) {
  EXPECT_EQ(
      refusal_of("a = 1\n  bß = 2 # é\n", parse_step).message,
      "line 2, column 4: found the character 'ß'; wanted a name, a number, an operator or a bracket; names "
      "have the letters a to z and A to Z, digits and '_'\n"
      "    bß = 2 # é\n"
      "     ^");
  const std::string filling(500, ' ');
  const std::string message = refusal_of("1 +" + filling + "* 2" + filling, parse_expression).message;
  EXPECT_LT(message.size(), 400u);
  EXPECT_THAT(message, HasSubstr("column 504: found '*'"));
}

TEST(Parser, EndsStatementsWithLinesOutsideOfBrackets) {
  const Syntax syntax = parse_step("\n# nothing\na = (1 +\n  2); b = a # of a\r\n\n;;u.next = max(u,\n\n b)");
  ASSERT_EQ(syntax.statements.size(), 3u);
  EXPECT_EQ(syntax.statements[0].name, "a");
  EXPECT_EQ(syntax.statements[1].position, (Position{4, 7}));
  EXPECT_TRUE(syntax.statements[2].next);
  EXPECT_TRUE(parse_step("").statements.empty());
}

TEST(Parser, PutsOperandsBeforeOperators) {
  const Syntax syntax =
      parse_step("a = d(u[1, -2]*c^2, x, 1, order=4, at=0.5) > 0 ? u.previous : correlate(w, u)");
  for (std::size_t i = 0; i < syntax.nodes.size(); ++i) {
    for (const int operand : syntax.nodes[i].operands) EXPECT_LT(operand, i);
    EXPECT_LT(syntax.nodes[i].order, static_cast<int>(i));
    EXPECT_LT(syntax.nodes[i].at, static_cast<int>(i));
  }
}

TEST(Parser, BoundsNesting) {
  const auto nested = [](int levels) { return std::string(levels, '(') + "x" + std::string(levels, ')'); };
  EXPECT_NO_THROW(parse_expression(nested(max_nesting - 2)));
  for (const std::string& text : {nested(100000), std::string(100000, '-') + "x",
                                  "x" +
                                      [] {
                                        std::string powers;
                                        for (int i = 0; i < 100000; ++i) powers += "^x";
                                        return powers;
                                      }(),
                                  [] {
                                    std::string conditions;
                                    for (int i = 0; i < 100000; ++i) conditions += "x?x:";
                                    return conditions + "x";
                                  }(),
                                  std::string(100000, '['), nested(100000).substr(0, 100000)})
    EXPECT_THROW(parse_expression(text), SyntaxError);
  EXPECT_EQ(refusal_of(nested(100000), parse_expression).found, "too deep a nesting");
}

}  // namespace
}  // namespace spsolve::testing
