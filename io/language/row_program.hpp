// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
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

/// Names where a RowProgram finds a value.
struct RowOperand {
  enum class Kind { constant, variable, slot };
  Kind kind;
  int index = 0;        // of the variable, or of the slot
  double number = 0.0;  // of the constant
  bool varies = false;  // along the row
};

/// Describes one instruction of a RowProgram, whose result goes to a slot of the stack.
struct RowInstruction {
  Operation operation;
  bool affine;  // in place of the operation: the first operand times the second plus the third
  int slot;
  bool varies;
  std::vector<RowOperand> operands;
};

/// Holds an expression, ready to be evaluated in double on many points at once: a stack machine whose values
/// are rows of up to `width` points, so that the loops of additions and products are vector code.
///
/// Every operation is rounded once, with an exception for expressions of a single variable v and numbers:
/// their sums and multiples are gathered in a v + b, v^2 to v^4 are products, and operations on numbers alone
/// are done first. These are the rules of the parser muParser, so values have its bits.
class RowProgram {
 public:
  static constexpr int width = 256;

  /// Throws SyntaxError about unknown names, and about constructs that only a step may use: fields at other
  /// time levels, displacements and derivatives.
  RowProgram(const Syntax& expression, const ExpressionNames& names);

  /// Computes out[i] for up to `width` points. `variables` are in the order of `ExpressionNames`; each has as
  /// many values as there are points, or one if it does not vary. `workspace` is resized as needed; every
  /// thread has its own.
  void evaluate(std::span<const double* const> variables, std::span<double> out,
                std::vector<double>& workspace) const;

 private:
  std::vector<RowInstruction> instructions_;
  RowOperand result_;
  int slots_;
};

}  // namespace spsolve
