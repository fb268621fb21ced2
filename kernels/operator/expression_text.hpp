// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kernels/operator/terms.hpp"

namespace spsolve {

/// Holds the text of an expression, and how strongly its outermost operator binds.
struct Phrase {
  static constexpr int name = 9;
  std::string text;
  int strength = name;
};

/// Returns the shortest text that reads back as the number.
std::string number_text(double number);

Phrase phrase_of(double number);
/// Returns the text of operation(operands), with brackets where they are needed.
Phrase phrase_of(Operation operation, const std::vector<Phrase>& operands);
/// Returns "operand[j, i]", with as many offsets as the grid has axes.
Phrase displaced(const Phrase& operand, const Index3& offset, int dimensions);

/// Returns ".previous", "" or ".next".
std::string level_suffix(Level level);
/// Returns "[j, i]", or "" at the point itself.
std::string offset_text(const Index3& offset, int dimensions);

}  // namespace spsolve
