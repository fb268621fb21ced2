// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "io/language/always_zero.hpp"
#include "io/language/parser.hpp"

namespace spsolve {
namespace {

bool always_zero(const std::string& formula) {
  return is_always_zero(parse_expression(formula), {{"x", {3, 3}}, {"y", {0, 0}}, {"step", {0, 5}}});
}

TEST(AlwaysZero, FollowsFromKnownFactors) {
  for (const char* formula :
       {"0", "y", "sin(t)*(x == 3.5)", "(x == 3.5)*sin(t)", "y/t", "t < 1 && x < 1", "x > 5 ? sin(t) : y",
        "t > 1 ? y : 0", "-(t*y)", "exp(t)*y + 2*y", "min(y, 4*y)"})
    EXPECT_TRUE(always_zero(formula)) << formula;
}

TEST(AlwaysZero, FollowsFromTheLengthOfARun) {
  for (const char* formula :
       {"step > 5", "step > 9 ? t : 0", "x*(step < 0)", "step - 6 >= 0", "-step > x", "step == 7",
        "2*step == 11", "(step <= -1)*t", "step > 9 && t > 1", "5 < step", "heaviside(step - 6)*t",
        "max(0, step - 5)", "min(0, step)", "clamp(step, -2, 0)", "smoothstep(5, 9, step)", "min(t, 0)*y"})
    EXPECT_TRUE(always_zero(formula)) << formula;
  for (const char* formula : {"step >= 5",
                              "step",
                              "step == 5",
                              "step > 4",
                              "step - 5 >= 0",
                              "-step > -1",
                              "step != 7",
                              "step*step > 24",
                              "step > 9 || t",
                              "t > 9",
                              "sin(step) > 2",
                              "step < 9 ? t : 0",
                              "heaviside(step - 5)",
                              "max(0, step - 4)",
                              "max(0, t)",
                              "min(1, step)",
                              "clamp(step, 0, 1)",
                              "smoothstep(4, 9, step)",
                              "smoothstep(step, 9, 5)",
                              "smoothstep(9, 5, step)"})
    EXPECT_FALSE(always_zero(formula)) << formula;
}

TEST(AlwaysZero, IsNotClaimedWhereTimeDecides) {
  for (const char* formula : {"x", "t", "t - t", "sin(t)*(x == 3)", "t/y", "t < 1 && x > 1", "x > 5 ? y : t",
                              "t > 1 ? y : 1", "y^t", "max(y, t)", "t < 1 || y"})
    EXPECT_FALSE(always_zero(formula)) << formula;
}

}  // namespace
}  // namespace spsolve
