// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "io/grid.hpp"

namespace spsolve {

/// Holds named values that an expression may use besides coordinates: `row` returns those of the points along
/// x from `begin` to the end of the evaluated box.
struct GivenValues {
  std::string name;
  std::function<const double*(const Index3& begin)> row;
};

/// Holds a formula: + - * / ^, comparisons, && ||, ?:, sin, exp, sqrt, floor, min, ...
/// (io/language/parser.cpp has the grammar, kernels/operator/operation.hpp the functions). Its names are the
/// coordinates x, y, z that the grid has, pi, constants and given values. Point p has the coordinates origin
/// + p * spacing. Errors call the formula `key`. All functions throw Error(invalid_input) with the expression
/// and the position in it.
struct Expression {
  std::string text;
  std::string key;
  std::map<std::string, double, std::less<>> constants = {};
  std::vector<GivenValues> given = {};

  /// Throws if the text is not a formula of the grid's coordinates and the given names.
  void check(const Grid& grid) const;

  /// Passes the values on `box` (within the grid) to `sink`, which several threads call at once, once for
  /// each point. A value that is not finite is an error that names the first such point.
  void evaluate(const Grid& grid, const Box& box, const ValueSink& sink) const;
};

}  // namespace spsolve
