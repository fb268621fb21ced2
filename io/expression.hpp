// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "io/grid.hpp"

namespace spsolve {

/// A formula: + - * / ^, comparisons, && ||, ?:, sin, exp, sqrt, floor, min, ... (io/language/parser.cpp has
/// the grammar, kernels/operator/operation.hpp the functions) of the coordinates x, y, z that the grid has
/// and of pi. Point p has the coordinates origin + p * spacing. `key` is what errors call it. All throw
/// Error(invalid_input) with the expression and the position in it.
struct Expression {
  std::string text;
  std::string key;

  /// Throws if the text is no formula of the grid's coordinates.
  void check(const Grid& grid) const;

  /// Hands the values on `box` (within the grid) to `sink`, which several threads call at once, each point
  /// once. A value that is not finite is an error that names the first such point.
  void evaluate(const Grid& grid, const Box& box, const ValueSink& sink) const;
};

}  // namespace spsolve
