// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/language/syntax.hpp"

namespace spsolve {

/// The names that an expression alone may use.
struct ExpressionNames {
  struct Variable {
    std::string name;
    bool varies = true;  // along a row; else one value stands for the row
  };
  std::vector<Variable> variables;
  std::map<std::string, double, std::less<>> constants = {};
};

/// Where a RowProgram finds a value.
struct RowOperand {
  enum class Kind { constant, variable, slot };
  Kind kind;
  int index = 0;        // of the variable, or of the slot
  double number = 0.0;  // of the constant
  bool varies = false;  // along the row
};

/// One instruction of a RowProgram: its result goes to a slot of the stack.
struct RowInstruction {
  Operation operation;
  bool affine;  // in place of the operation: the first operand times the second plus the third
  int slot;
  bool varies;
  std::vector<RowOperand> operands;
};

/// An expression, ready to be evaluated in double on many points at once: a stack machine whose values are
/// rows of up to `width` points, so that the loops of additions and products are vector code.
///
/// Every operation is rounded once, but for what concerns a single variable v and numbers: sums and multiples
/// of it are gathered in a v + b, v^2 to v^4 are products, and operations on numbers alone are done first.
/// So it was when muParser evaluated these expressions, whose bits stay as they were.
class RowProgram {
 public:
  static constexpr int width = 256;

  /// Throws SyntaxError about names that are not known, and about what only a step may hold: fields at other
  /// levels of time, displacements and derivatives.
  RowProgram(const Syntax& expression, const ExpressionNames& names);

  /// out[i] for each of up to `width` points, from the values of the variables in the order of
  /// `ExpressionNames`: as many as there are points, or one of those that do not vary. `workspace` is resized
  /// as needed; every thread has its own.
  void evaluate(std::span<const double* const> variables, std::span<double> out,
                std::vector<double>& workspace) const;

 private:
  std::vector<RowInstruction> instructions_;
  RowOperand result_;
  int slots_;
};

}  // namespace spsolve
