// SPDX-License-Identifier: Apache-2.0
#include "io/language/resolve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "io/language/parser.hpp"

namespace spsolve::testing {
namespace {

using ::testing::HasSubstr;

StepNames names_2d() {
  StepNames names;
  names.dimensions = 2;
  names.spacing = {1.0, 0.5, 0.25};
  names.dt = 0.125;
  names.fields = {"pressure", "v"};
  names.coefficients = {"speed"};
  names.constants = {{"f0", 15.0}};
  names.stencils.emplace("blur", Stencil({1, 1, 3}, {0.25, 0.5, 0.25}, {0, 0, 1}));
  return names;
}

System resolve(const std::string& text) { return resolve_step(parse_step(text), names_2d()); }

/// Returns "line:column found | wanted".
std::string refusal_of(const std::string& text) {
  try {
    resolve(text);
  } catch (const SyntaxError& error) {
    return std::to_string(error.position().line) + ":" + std::to_string(error.position().column) + " " +
           error.found() + " | " + error.wanted();
  }
  return "nothing refused";
}

TEST(Resolve, RefusesStatements) {
  const std::string rest = "\nv.next = v";
  EXPECT_EQ(refusal_of("pressure.next = v"),
            "1:1 no equation for the field 'v' | a statement 'v.next = ...'");
  EXPECT_THAT(refusal_of(""), HasSubstr("1:1 no equation for the field 'pressure'"));
  EXPECT_EQ(refusal_of("pressure.next = v" + rest + rest),
            "3:1 a second equation for the field 'v' | one statement 'v.next = ...'");
  EXPECT_EQ(refusal_of("presure.next = v"),
            "1:1 'presure.next', but 'presure' is no field | one of pressure, v (is it 'pressure'?)");
  EXPECT_EQ(refusal_of("pressure = v"),
            "1:1 'pressure = ...', but 'pressure' is a field | 'pressure.next = ...', or "
            "another name for a shorthand");
  EXPECT_EQ(refusal_of("a = 1; a = 2"), "1:8 a second shorthand 'a' | another name for it");
  for (const auto& [name, why] : {std::pair<const char*, const char*>{"speed", "is given already"},
                                  {"f0", "is given already"},
                                  {"x", "has a meaning of its own"},
                                  {"dt", "has a meaning of its own"},
                                  {"sin", "is a function"},
                                  {"laplace", "is a function"},
                                  {"d", "is a function"},
                                  {"or", "reads as an operator"},
                                  {"next", "is a time level"}})
    EXPECT_THAT(refusal_of(std::string("\n ") + name + " = 1"), AllOf(HasSubstr("2:2 "), HasSubstr(why)));
}

TEST(Resolve, RefusesNames) {
  const auto value = [](const std::string& text) { return refusal_of("v.next = " + text); };
  EXPECT_EQ(value("2*presure"),
            "1:12 the unknown name 'presure' | one of pressure, v, speed, f0, x, y, t, dt, step, pi (is it "
            "'pressure'?)");
  EXPECT_THAT(value("z"), HasSubstr("1:10 'z', an axis that the 2D grid has not | x or y"));
  EXPECT_THAT(value("b\nb = 1"), HasSubstr("1:10 'b' before its statement | the statement 'b = ...' above"));
  EXPECT_THAT(value("sin"), HasSubstr("'sin', which is a function | 'sin(...)'"));
  EXPECT_THAT(value("d"), HasSubstr("'d', which is a function"));
  EXPECT_THAT(value("sine(v)"),
              HasSubstr("1:10 the unknown function 'sine' | one of d, mean, laplace, correlate, abs"));
  EXPECT_THAT(value("lapalce(v)"), HasSubstr("(is it 'laplace'?)"));
  EXPECT_THAT(value("v(2)"), HasSubstr("a call of 'v', which is no function | 'v*(...)'"));
  EXPECT_THAT(value("pressure.next"), HasSubstr("1:10 'pressure.next' before its statement"));
  EXPECT_THAT(value("speed.previous"),
              HasSubstr("'speed.previous', but 'speed' is no field | one of pressure, v"));
  EXPECT_THAT(value("correlate(blurr, v)"),
              HasSubstr("1:20 the unknown weights 'blurr' | one of blur (is it 'blur'?)"));
}

TEST(Resolve, RefusesArguments) {
  const auto value = [](const std::string& text) { return refusal_of("v.next = " + text); };
  EXPECT_EQ(value("v[1]"), "1:11 1 offset | 2, one per axis of the grid, slowest first");
  EXPECT_THAT(value("v[1, 2, 3]"), HasSubstr("3 offsets | 2,"));
  EXPECT_EQ(value("v[0, 0.5]"), "1:15 an offset of 0.5 | a whole number from -1024 to 1024");
  EXPECT_THAT(value("v[0, 1025]"), HasSubstr("1:15 an offset of 1025"));
  EXPECT_THAT(value("v[0, speed]"), HasSubstr("1:15 an offset that is no constant | a number"));
  EXPECT_THAT(value("v[0, 0/0]"), HasSubstr("an offset of"));
  EXPECT_THAT(value("d(v, z)"), HasSubstr("1:15 'z', an axis that the 2D grid has not"));
  EXPECT_THAT(value("d(v, w)"), HasSubstr("1:15 'w' | an axis of the grid: x or y"));
  EXPECT_THAT(value("d(v, x, 0)"), HasSubstr("1:18 a derivative of 0 | a whole number from 1 to 8"));
  EXPECT_THAT(value("d(v, x, order=3)"), HasSubstr("1:24 the order 3 | an even order"));
  EXPECT_THAT(value("d(v, x, order=40)"), HasSubstr("the order 40"));
  EXPECT_THAT(value("d(v, x, at=0.25)"), HasSubstr("1:21 at = 0.25 | 'at=0.5' or 'at=-0.5'"));
  EXPECT_THAT(value("mean(v, x)"), HasSubstr("1:10 'mean' without 'at='"));
}

TEST(Resolve, NamesFollowTheRules) {
  EXPECT_EQ(why_invalid_name("u_2"), "");
  for (const char* name : {"", "2u", "a.b", "ü", "t", "exp", "ln", "mean", "not", "previous"})
    EXPECT_NE(why_invalid_name(name), "") << name;
}

/// Returns the taps of the equation of a field, which is one weighted sum.
std::vector<Tap> taps_of(const std::string& value) {
  const System system = resolve("v.next = " + value + "\npressure.next = v");
  const Term& term = system.terms[system.statements[0].value];
  EXPECT_EQ(term.kind, TermKind::weighted);
  return system.terms.weights(term.index);
}

/// Returns taps along x, from offset `first` on.
std::vector<Tap> along_x(int first, const std::vector<double>& weights) {
  std::vector<Tap> taps;
  for (const double weight : weights) {
    if (weight != 0.0) taps.push_back({{0, 0, first}, weight});
    ++first;
  }
  return taps;
}

void expect_near(const std::vector<Tap>& taps, const std::vector<Tap>& expected) {
  ASSERT_EQ(taps.size(), expected.size());
  for (std::size_t i = 0; i < taps.size(); ++i) {
    EXPECT_EQ(taps[i].offset, expected[i].offset);
    EXPECT_NEAR(taps[i].weight, expected[i].weight, 1e-14 * std::abs(expected[i].weight));
  }
}

TEST(Resolve, KnowsTheWeightsOfTheLiterature) {  // Fornberg 1988, tables 1 and 2; the spacing is 1/4
  EXPECT_EQ(taps_of("d(v, x)"), along_x(-1, {-2.0, 0.0, 2.0}));
  EXPECT_EQ(taps_of("d(v, x, 2)"), along_x(-1, {16.0, -32.0, 16.0}));
  expect_near(taps_of("d(v, x, 1, order=4)"), along_x(-2, {1.0 / 3, -8.0 / 3, 0.0, 8.0 / 3, -1.0 / 3}));
  expect_near(taps_of("d(v, x, 3)"), along_x(-2, {-32.0, 64.0, 0.0, -64.0, 32.0}));
  EXPECT_EQ(taps_of("d(v, x, at=0.5)"), along_x(0, {-4.0, 4.0}));
  EXPECT_EQ(taps_of("d(v, x, at=-0.5)"), along_x(-1, {-4.0, 4.0}));
  expect_near(taps_of("d(v, x, order=4, at=-0.5)"), along_x(-2, {1.0 / 6, -4.5, 4.5, -1.0 / 6}));
  expect_near(taps_of("d(v, x, 2, at=0.5)"), along_x(-1, {8.0, -8.0, -8.0, 8.0}));
  EXPECT_EQ(taps_of("mean(v, x, at=0.5)"), along_x(0, {0.5, 0.5}));
  expect_near(taps_of("mean(v, x, at=-0.5, order=4)"),
              along_x(-2, {-1.0 / 16, 9.0 / 16, 9.0 / 16, -1.0 / 16}));
  EXPECT_EQ(taps_of("correlate(blur, v)"), along_x(-1, {0.25, 0.5, 0.25}));
  EXPECT_EQ(
      taps_of("laplace(v)"),
      (std::vector<Tap>{
          {{0, -1, 0}, 4.0}, {{0, 0, -1}, 16.0}, {{0, 0, 0}, -40.0}, {{0, 0, 1}, 16.0}, {{0, 1, 0}, 4.0}}));
  const auto eighth = taps_of("d(v, x, 2, order=8)");
  EXPECT_NEAR(eighth[4].weight, -205.0 / 72 * 16, 1e-12);
  EXPECT_NEAR(eighth[0].weight, -1.0 / 560 * 16, 1e-14);
}

TEST(Resolve, DerivativesOfPolynomialsAreExactUpToTheirOrder) {
  StepNames names = names_2d();
  names.spacing[x_axis] = 1.0;
  for (const int derivative : {1, 2, 3, 4})
    for (const int order : {2, 4, 6, 8})
      for (const double place : {0.0, 0.5, -0.5}) {
        const std::string at = place == 0.0 ? "" : place > 0.0 ? ", at=0.5" : ", at=-0.5";
        const System system =
            resolve_step(parse_step("v.next = d(v, x, " + std::to_string(derivative) +
                                    ", order=" + std::to_string(order) + at + "); pressure.next = v"),
                         names);
        const auto& taps = system.terms.weights(system.terms[system.statements[0].value].index);
        for (int power = 0; power <= derivative + order; ++power) {
          double value = 0.0, magnitude = 0.0;
          for (const Tap& tap : taps) {
            const double term = tap.weight * std::pow(static_cast<double>(tap.offset[x_axis]) - place, power);
            value += term, magnitude += std::abs(term);
          }
          const double exact = power == derivative ? std::tgamma(derivative + 1.0) : 0.0;
          if (power < derivative + order)
            EXPECT_NEAR(value, exact, 1e-13 * std::max(magnitude, 1.0)) << derivative << order << at << power;
          else  // the order must not be higher by chance: the weights are the narrowest ones
            EXPECT_GT(std::abs(value - exact), 1e-6 * magnitude) << derivative << order << at;
        }
      }
}

}  // namespace
}  // namespace spsolve::testing
