// SPDX-License-Identifier: Apache-2.0
#include "kernels/operator/expression_text.hpp"

#include <array>
#include <charconv>

namespace spsolve {

namespace {

constexpr std::size_t longest = 300;  // characters of a expression; longer ones end in "..."

ExpressionText shortened(ExpressionText expression) {
  if (expression.text.size() > longest) expression.text = expression.text.substr(0, longest) + "...";
  return expression;
}

int precedence_of(Operation operation) {
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
      return is_function(operation) ? ExpressionText::atom : 3;  // comparisons
  }
}

std::string bracketed(const ExpressionText& expression, int weakest) {
  return expression.precedence < weakest ? std::string("(").append(expression.text).append(")")
                                         : expression.text;
}

}  // namespace

std::string number_text(double number) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return {text.data(), end};
}

ExpressionText expression_text(double number) {
  return {number_text(number), number < 0 ? precedence_of(Operation::negate) : ExpressionText::atom};
}

ExpressionText expression_text(Operation operation, const std::vector<ExpressionText>& operands) {
  const std::string name(info_of(operation).name);
  const int precedence = precedence_of(operation);
  if (is_function(operation)) {
    std::string list;
    for (const ExpressionText& operand : operands) list.append(list.empty() ? "" : ", ").append(operand.text);
    return shortened({std::string(name).append("(").append(list).append(")")});
  }
  if (operation == Operation::negate)
    return shortened({std::string("-").append(bracketed(operands[0], precedence)), precedence});
  if (operation == Operation::select)
    return shortened(
        {bracketed(operands[0], 1) + " ? " + bracketed(operands[1], 1) + " : " + bracketed(operands[2], 0),
         precedence});
  // Operators group from the left, except powers.
  const bool power = operation == Operation::power, tight = precedence >= 5;
  return shortened({bracketed(operands[0], precedence + (power || precedence == 3)) + (tight ? "" : " ") +
                        name + (tight ? "" : " ") + bracketed(operands[1], precedence + !power),
                    precedence});
}

ExpressionText displaced(const ExpressionText& operand, const Index3& offset, int dimensions) {
  return shortened({bracketed(operand, ExpressionText::atom) + offset_text(offset, dimensions)});
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
