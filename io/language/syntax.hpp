// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "io/language/syntax_error.hpp"
#include "kernels/operator/operation.hpp"

namespace spsolve {

/// Tells what a node of a syntax tree is, and which of its members describe it.
enum class SyntaxKind {
  number,      // number
  name,        // text
  level,       // text.level: a field at another time level, level "previous" or "next"
  operation,   // operation(operands): an operator, ?: or a function
  unknown,     // text(operands): a call of no known function
  displaced,   // operands[0] at the offsets operands[1], ...
  difference,  // d(operands[0], axis): text is "d"; operands[1], if any, is the derivative
  mean,        // mean(operands[0], axis)
  laplace,     // laplace(operands[0])
  correlate,   // correlate(axis_or_weights, operands[0])
};

/// Is a node of a syntax tree. Its operands stand before it in `Syntax::nodes`, so that a loop over the nodes
/// sees operands first and needs no recursion.
struct SyntaxNode {
  SyntaxKind kind;
  Position position;
  double number = 0.0;
  std::string text = {};
  std::string level = {};
  Operation operation = Operation::add;
  std::vector<int> operands = {};
  std::string axis = {};        // axis of difference and mean; name of the weights of correlate
  Position axis_position = {};  // where that name stands
  int order = -1, at = -1;      // nodes of the values of "order=" and "at=", or -1
};

/// Holds a statement `name = value`, or `name.next = value` if `next`.
struct SyntaxStatement {
  std::string name;
  bool next;
  int value;  // node
  Position position;
};

/// Holds the syntax tree of an expression or of the statements of a step.
struct Syntax {
  std::string text;  // the text that was read
  std::vector<SyntaxNode> nodes;
  std::vector<SyntaxStatement> statements;  // an expression alone has none; its value is the last node
};

}  // namespace spsolve
