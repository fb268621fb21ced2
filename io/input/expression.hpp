// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "io/grid.hpp"

namespace spsolve {

/// Values by name that an expression may use besides coordinates: `row` returns those of the points along x
/// from `begin` on, as far as the box that is evaluated goes.
struct GivenValues {
  std::string name;
  std::function<const double*(const Index3& begin)> row;
};

/// A formula: + - * / ^, comparisons, && ||, ?:, sin, exp, sqrt, floor, min, ... (io/language/parser.cpp has
/// the grammar, kernels/operator/operation.hpp the functions) of the coordinates x, y, z that the grid has
/// of pi, of constants and of given values. Point p has the coordinates origin + p * spacing. `key` is what
/// errors call it. All throw Error(invalid_input) with the expression and the position in it.
struct Expression {
  std::string text;
  std::string key;
  std::map<std::string, double, std::less<>> constants = {};
  std::vector<GivenValues> given = {};

  /// Throws if the text is no formula of the grid's coordinates and the names that are given.
  void check(const Grid& grid) const;

  /// Hands the values on `box` (within the grid) to `sink`, which several threads call at once, each point
  /// once. A value that is not finite is an error that names the first such point.
  void evaluate(const Grid& grid, const Box& box, const ValueSink& sink) const;
};

}  // namespace spsolve
