// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "io/language/syntax.hpp"

namespace spsolve {

/// Returns true if an expression is 0 for all values of the names that `known` does not have, such as the
/// time: sin(t)*(x == 3.5) where x is known to be 3. Products, quotients and conditions of parts are looked
/// at; an expression that is 0 for another reason, such as t - t, is not recognised.
bool is_always_zero(const Syntax& expression, const std::map<std::string, double, std::less<>>& known);

}  // namespace spsolve
