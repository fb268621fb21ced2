// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <map>
#include <string>

#include "io/language/syntax.hpp"

namespace spsolve {

/// Holds the least and the largest number that a name may stand for.
struct NumberInterval {
  double least = -std::numeric_limits<double>::infinity();
  double largest = std::numeric_limits<double>::infinity();

  bool operator==(const NumberInterval&) const = default;
};

/// Returns true if an expression is 0 whatever numbers the names stand for: sin(t)*(x == 3.5) where x is
/// known to be 3, or t > 9 ? x : 0 where t is known to be at most 5. Names that `known` does not have may
/// stand for any number. Sums, products, quotients, comparisons and conditions of parts are looked at; an
/// expression that is 0 for another reason, such as t - t, is not recognised.
bool is_always_zero(const Syntax& expression,
                    const std::map<std::string, NumberInterval, std::less<>>& known);

}  // namespace spsolve
