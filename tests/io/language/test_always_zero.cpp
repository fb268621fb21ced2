// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "io/language/always_zero.hpp"
#include "io/language/parser.hpp"

namespace spsolve {
namespace {

bool always_zero(const std::string& formula) {
  return is_always_zero(parse_expression(formula), {{"x", 3.0}, {"y", 0.0}});
}

TEST(AlwaysZero, FollowsFromKnownFactors) {
  for (const char* formula :
       {"0", "y", "sin(t)*(x == 3.5)", "(x == 3.5)*sin(t)", "y/t", "t < 1 && x < 1", "x > 5 ? sin(t) : y",
        "t > 1 ? y : 0", "-(t*y)", "exp(t)*y + 2*y", "min(y, 4*y)"})
    EXPECT_TRUE(always_zero(formula)) << formula;
}

TEST(AlwaysZero, IsNotClaimedWhereTimeDecides) {
  for (const char* formula : {"x", "t", "t - t", "sin(t)*(x == 3)", "t/y", "t < 1 && x > 1", "x > 5 ? y : t",
                              "t > 1 ? y : 1", "y^t", "max(y, t)", "t < 1 || y"})
    EXPECT_FALSE(always_zero(formula)) << formula;
}

}  // namespace
}  // namespace spsolve
