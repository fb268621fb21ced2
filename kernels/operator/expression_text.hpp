// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kernels/operator/terms.hpp"

namespace spsolve {

/// Holds the text of an expression, and the precedence of its outermost operator.
struct ExpressionText {
  static constexpr int atom = 9;  // numbers, names and calls need no brackets
  std::string text;
  int precedence = atom;
};

/// Returns the shortest text that reads back as the number.
std::string number_text(double number);

ExpressionText expression_text(double number);
/// Returns the text of operation(operands), with brackets where they are needed.
ExpressionText expression_text(Operation operation, const std::vector<ExpressionText>& operands);
/// Returns "operand[j, i]", with as many offsets as the grid has axes.
ExpressionText displaced(const ExpressionText& operand, const Index3& offset, int dimensions);

/// Returns ".previous", "" or ".next".
std::string level_suffix(Level level);
/// Returns "[j, i]", or "" at the point itself.
std::string offset_text(const Index3& offset, int dimensions);

}  // namespace spsolve
