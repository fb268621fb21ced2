// SPDX-License-Identifier: Apache-2.0
#include "kernels/operator/expression_text.hpp"

#include <array>
#include <charconv>

namespace spsolve {

namespace {

constexpr std::size_t longest = 300;  // characters of a phrase; longer ones end in "..."

Phrase shortened(Phrase phrase) {
  if (phrase.text.size() > longest) phrase.text = phrase.text.substr(0, longest) + "...";
  return phrase;
}

int strength_of(Operation operation) {
  switch (operation) {
    case Operation::select:
      return 0;
    case Operation::either:
      return 1;
    case Operation::both:
      return 2;
    case Operation::add:
    case Operation::subtract:
      return 4;
    case Operation::multiply:
    case Operation::divide:
      return 5;
    case Operation::negate:
      return 6;
    case Operation::power:
      return 7;
    default:
      return is_function(operation) ? Phrase::name : 3;  // comparisons
  }
}

std::string bracketed(const Phrase& phrase, int weakest) {
  return phrase.strength < weakest ? std::string("(").append(phrase.text).append(")") : phrase.text;
}

}  // namespace

std::string number_text(double number) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return {text.data(), end};
}

Phrase phrase_of(double number) {
  return {number_text(number), number < 0 ? strength_of(Operation::negate) : Phrase::name};
}

Phrase phrase_of(Operation operation, const std::vector<Phrase>& operands) {
  const std::string name(info_of(operation).name);
  const int strength = strength_of(operation);
  if (is_function(operation)) {
    std::string list;
    for (const Phrase& operand : operands) list.append(list.empty() ? "" : ", ").append(operand.text);
    return shortened({std::string(name).append("(").append(list).append(")")});
  }
  if (operation == Operation::negate)
    return shortened({std::string("-").append(bracketed(operands[0], strength)), strength});
  if (operation == Operation::select)
    return shortened(
        {bracketed(operands[0], 1) + " ? " + bracketed(operands[1], 1) + " : " + bracketed(operands[2], 0),
         strength});
  // Operators group from the left, except powers.
  const bool power = operation == Operation::power, tight = strength >= 5;
  return shortened({bracketed(operands[0], strength + (power || strength == 3)) + (tight ? "" : " ") + name +
                        (tight ? "" : " ") + bracketed(operands[1], strength + !power),
                    strength});
}

Phrase displaced(const Phrase& operand, const Index3& offset, int dimensions) {
  return shortened({bracketed(operand, Phrase::name) + offset_text(offset, dimensions)});
}

std::string level_suffix(Level level) {
  return level == Level::previous ? ".previous" : level == Level::next ? ".next" : "";
}

std::string offset_text(const Index3& offset, int dimensions) {
  if (offset == Index3{}) return "";
  std::string text;
  for (int axis = axis_count - dimensions; axis < axis_count; ++axis)
    text.append(text.empty() ? "[" : ", ").append(std::to_string(offset[axis]));
  return text.append("]");
}

}  // namespace spsolve
