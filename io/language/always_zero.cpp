// SPDX-License-Identifier: Apache-2.0
#include "io/language/always_zero.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "kernels/operator/apply.hpp"

namespace spsolve {
namespace {

constexpr NumberInterval anything{}, zero{0, 0}, one{1, 1}, zero_or_one{0, 1};

bool is_number(const NumberInterval& value) { return value.least == value.largest; }

NumberInterval negative(const NumberInterval& value) { return {-value.largest, -value.least}; }

/// Returns a * b; 0 times anything is 0.
NumberInterval product(const NumberInterval& a, const NumberInterval& b) {
  if (a == zero || b == zero) return zero;
  if (!std::isfinite(a.largest - a.least) || !std::isfinite(b.largest - b.least)) return anything;
  const auto [least, largest] =
      std::minmax({a.least * b.least, a.least * b.largest, a.largest * b.least, a.largest * b.largest});
  return {least, largest};
}

/// Returns a < b.
NumberInterval less(const NumberInterval& a, const NumberInterval& b) {
  return a.largest < b.least ? one : a.least >= b.largest ? zero : zero_or_one;
}

/// Returns 1 - a for the result of a comparison.
NumberInterval opposite(const NumberInterval& a) { return {1 - a.largest, 1 - a.least}; }

/// Returns the values of a function that does not fall when an operand rises.
NumberInterval rising(Operation operation, std::span<const NumberInterval> operands) {
  std::vector<double> least, largest;
  for (const NumberInterval& operand : operands) {
    least.push_back(operand.least);
    largest.push_back(operand.largest);
  }
  return {apply<double>(operation, least), apply<double>(operation, largest)};
}

/// Returns the values of an operation of which some operands may be any number of an interval.
NumberInterval partly_known(Operation operation, std::span<const NumberInterval> operands) {
  const NumberInterval &a = operands[0], &b = operands[std::min<std::size_t>(1, operands.size() - 1)];
  const auto is_true = [](const NumberInterval& value) { return value.least > 0 || value.largest < 0; };
  switch (operation) {
    case Operation::add:
      return {a.least + b.least, a.largest + b.largest};
    case Operation::subtract:
      return {a.least - b.largest, a.largest - b.least};
    case Operation::negate:
      return negative(a);
    case Operation::multiply:
      return product(a, b);
    case Operation::divide:
      return a == zero ? zero : anything;
    case Operation::less:
      return less(a, b);
    case Operation::greater:
      return less(b, a);
    case Operation::less_equal:
      return opposite(less(b, a));
    case Operation::greater_equal:
      return opposite(less(a, b));
    case Operation::equal:
      return a.largest < b.least || b.largest < a.least ? zero : zero_or_one;
    case Operation::both:
      return a == zero || b == zero ? zero : zero_or_one;
    case Operation::select:
      if (a == zero || is_true(a)) return operands[a == zero ? 2 : 1];
      return {std::min(b.least, operands[2].least), std::max(b.largest, operands[2].largest)};
    case Operation::heaviside:
    case Operation::maximum:
    case Operation::minimum:
    case Operation::clamp:
      return rising(operation, operands);
    case Operation::smoothstep:
      return is_number(a) && is_number(b) && a.least < b.least ? rising(operation, operands) : anything;
    default:
      return anything;
  }
}

}  // namespace

bool is_always_zero(const Syntax& expression,
                    const std::map<std::string, NumberInterval, std::less<>>& known) {
  std::vector<NumberInterval> values;  // values of the nodes: operands stand before what uses them
  for (const SyntaxNode& node : expression.nodes) {
    NumberInterval value;
    if (node.kind == SyntaxKind::number) value = {node.number, node.number};
    if (node.kind == SyntaxKind::name)
      if (const auto found = known.find(node.text); found != known.end()) value = found->second;
    if (node.kind == SyntaxKind::operation) {
      std::vector<NumberInterval> operands;
      std::vector<double> numbers;
      for (const int operand : node.operands) {
        operands.push_back(values[static_cast<std::size_t>(operand)]);
        if (is_number(operands.back())) numbers.push_back(operands.back().least);
      }
      if (numbers.size() == operands.size()) {
        const double number = apply<double>(node.operation, numbers);
        value = {number, number};
      } else {
        value = partly_known(node.operation, operands);
      }
    }
    values.push_back(std::isnan(value.least) || std::isnan(value.largest) ? anything : value);
  }
  return !values.empty() && values.back() == zero;
}

}  // namespace spsolve
