// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "io/language/syntax.hpp"

namespace spsolve {

/// Holds a name that an expression alone may use.
struct ExpressionNames {
  struct Variable {
    std::string name;
    bool varies = true;  // along a row; else one value holds for the whole row
  };
  std::vector<Variable> variables;
  std::map<std::string, double, std::less<>> constants = {};
};

/// Tells whether an operand is a number, a variable or the result of another instruction.
enum class RowOperandKind { constant, variable, slot };

/// Names where an instruction finds a value.
struct RowOperand {
  RowOperandKind kind;
  int index = 0;        // the number of the variable, or of the slot
  double number = 0.0;  // the constant
  bool varies = false;  // along the row
};

/// Describes one instruction, whose result goes to a slot.
struct RowInstruction {
  Operation operation;
  bool affine;  // in place of the operation: the first operand times the second plus the third
  int slot;
  bool varies;
  std::vector<RowOperand> operands;
};

/// Holds the instructions of an expression, in order.
struct RowCode {
  std::vector<RowInstruction> instructions;
  RowOperand result;
  int slots = 0;
};

/// Translates an expression. Throws SyntaxError about unknown names, and about constructs that only a step
/// may use: fields at other time levels, displacements and derivatives.
///
/// Every operation is rounded once, with an exception for expressions of a single variable v and numbers:
/// their sums and multiples are gathered in a v + b, v^2 to v^4 are products, and operations on numbers alone
/// are done first. These are the rules of the parser muParser, so values have its bits.
RowCode compile_rows(const Syntax& expression, const ExpressionNames& names);

}  // namespace spsolve
