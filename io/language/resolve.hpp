// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "io/language/syntax.hpp"
#include "kernels/operator/system.hpp"

namespace spsolve {

/// Holds the names that the statements of a step may use, and their meanings.
struct StepNames {
  int dimensions = 3;
  std::array<double, 3> spacing{1.0, 1.0, 1.0};  // {z, y, x}, scales derivatives
  double dt = 1.0;
  std::vector<std::string> fields;
  std::vector<std::string> coefficients = {};
  std::map<std::string, double, std::less<>> constants = {};
  std::map<std::string, Stencil, std::less<>> stencils = {};  // for correlate
};

/// Limits how far one displacement, derivative or mean may reach along an axis, in points.
constexpr int max_offset = 1024;

/// Looks up the names of a step, expands shorthands, and replaces derivatives by their weights (B. Fornberg,
/// Math. Comp. 51 (1988) 699). Checks that every field has one equation. Throws SyntaxError with the position
/// of the error.
System resolve_step(const Syntax& step, const StepNames& names);

/// Returns why a name cannot name a field, a coefficient, a constant or a shorthand, or "" if it can.
std::string why_invalid_name(std::string_view name);

}  // namespace spsolve
