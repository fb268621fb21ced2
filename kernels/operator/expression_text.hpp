// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kernels/operator/terms.hpp"

namespace spsolve {

/// The text of an expression, and how strongly its outermost operator binds.
struct Phrase {
  static constexpr int name = 9;
  std::string text;
  int strength = name;
};

/// The shortest text that reads back as the number.
std::string number_text(double number);

Phrase phrase_of(double number);
/// operation(operands), with brackets where they are needed.
Phrase phrase_of(Operation operation, const std::vector<Phrase>& operands);
/// operand[k, j, i]; all three axes are shown where the first ones are displaced.
Phrase displaced(const Phrase& operand, const Index3& offset);

/// ".previous", "" or ".next".
std::string level_suffix(Level level);
/// "[k, j, i]", or "" at the point itself.
std::string offset_text(const Index3& offset);

}  // namespace spsolve
