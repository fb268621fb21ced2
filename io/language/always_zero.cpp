// SPDX-License-Identifier: Apache-2.0
#include "io/language/always_zero.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "kernels/operator/apply.hpp"

namespace spsolve {
namespace {

using Value = std::optional<double>;  // nothing where a value depends on unknown names

/// Returns the value of an operation of which some operands are unknown.
Value partly_known(Operation operation, std::span<const Value> operands) {
  const auto is = [&](std::size_t i, double value) { return operands[i] && *operands[i] == value; };
  switch (operation) {
    case Operation::multiply:
    case Operation::both:
      return is(0, 0) || is(1, 0) ? Value(0.0) : std::nullopt;
    case Operation::divide:
      return is(0, 0) ? Value(0.0) : std::nullopt;
    case Operation::select:
      if (operands[0]) return *operands[0] != 0 ? operands[1] : operands[2];
      return operands[1] && operands[1] == operands[2] ? operands[1] : std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

bool is_always_zero(const Syntax& expression, const std::map<std::string, double, std::less<>>& known) {
  std::vector<Value> values;  // values of the nodes: operands stand before what uses them
  for (const SyntaxNode& node : expression.nodes) {
    Value value;
    if (node.kind == SyntaxNode::Kind::number) value = node.number;
    if (node.kind == SyntaxNode::Kind::name)
      if (const auto found = known.find(node.text); found != known.end()) value = found->second;
    if (node.kind == SyntaxNode::Kind::operation) {
      std::vector<Value> operands;
      std::vector<double> numbers;
      for (const int operand : node.operands) {
        operands.push_back(values[static_cast<std::size_t>(operand)]);
        if (operands.back()) numbers.push_back(*operands.back());
      }
      value = numbers.size() == operands.size() ? Value(apply<double>(node.operation, numbers))
                                                : partly_known(node.operation, operands);
    }
    values.push_back(value);
  }
  return !values.empty() && values.back() == 0.0;
}

}  // namespace spsolve
