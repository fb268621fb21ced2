// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "io/grid.hpp"

namespace spsolve {

/// Takes the values of a row of points, or of a part of one, the first at `begin` (global index).
using RowSink = std::function<void(const Index3& begin, std::span<const double> values)>;

/// A formula of muParser: + - * / ^, comparisons, ?:, sin, exp, sqrt, min, ... of the coordinates x, y, z
/// that the grid has and of pi. Point p has the coordinates origin + p * spacing. `key` is what errors call
/// it. All throw Error(invalid_input) with the expression and the position in it.
struct Expression {
  std::string text;
  std::string key;

  /// Throws if the text is no formula of the grid's coordinates.
  void check(const Grid& grid) const;

  /// Hands the values on `box` (within the grid) to `row`, which several threads call at once, each point
  /// once.
  /// A value that is not finite is an error that names the first such point.
  void evaluate(const Grid& grid, const Box& box, const RowSink& row) const;

  /// The values on `box`, x fastest.
  std::vector<double> evaluate(const Grid& grid, const Box& box) const;
};

}  // namespace spsolve
