// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "io/language/row_compiler.hpp"

namespace spsolve {

/// Holds an expression, ready to be evaluated in double on many points at once: a stack machine whose values
/// are parts of rows of up to `width` points, so that the loops of additions and products are vector code.
class RowProgram {
 public:
  /// Throws SyntaxError about unknown names, and about constructs that only a step may use: fields at other
  /// time levels, displacements and derivatives.
  RowProgram(const Syntax& expression, const ExpressionNames& names)
      : code_(compile_rows(expression, names)) {}

  /// Computes out[i] for the points of a row. `variables` are in the order of `ExpressionNames`; each has as
  /// many values as there are points, or one if it does not vary. `workspace` is resized as needed; every
  /// thread has its own.
  void evaluate(std::span<const double* const> variables, std::span<double> out,
                std::vector<double>& workspace) const;

 private:
  static constexpr int width = 256;

  /// Computes the values of up to `width` points of a row, from point `first` on.
  void evaluate_part(std::span<const double* const> variables, std::size_t first, std::span<double> out,
                     std::vector<double>& workspace) const;

  RowCode code_;
};

}  // namespace spsolve
