// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "io/language/syntax.hpp"

namespace spsolve {

/// Limits how deep brackets, signs, powers and conditions may be nested.
constexpr int max_nesting = 200;

/// Reads an expression (its value is the last node), or the statements of a step. The grammar stands in
/// parser.cpp. Names are not looked up (io/language/resolve.hpp and row_program.hpp do that). Throws
/// SyntaxError.
Syntax parse_expression(std::string_view text);
Syntax parse_step(std::string_view text);

}  // namespace spsolve
