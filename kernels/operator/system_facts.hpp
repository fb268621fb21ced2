// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/operator/canonical.hpp"
#include "kernels/operator/linearity.hpp"

namespace spsolve {

/// Identifies a field at a time level.
struct FieldLevel {
  int field;
  Level level;

  friend auto operator<=>(const FieldLevel&, const FieldLevel&) = default;
};

/// Holds the properties of one equation.
struct EquationFacts {
  int field;                        // the field that the equation advances
  std::map<FieldLevel, Box> reach;  // the box of offsets at which each field is read
  Dependence depends;
  bool inexact_functions;  // exp and similar functions in every step: bits differ between CPU and GPU
};

/// Holds the properties of a system.
struct SystemFacts {
  std::vector<EquationFacts> equations;  // in the order of the statements
  /// Hold the offsets at which a whole step reads each field at step n, and at the step before, directly or
  /// through `.next` and displaced expressions. A box is empty where the field is not read.
  std::vector<Box> reach_now, reach_previous;
  Index3 radius{};                     // largest offset of these boxes
  std::vector<Box> coefficient_reach;  // per derived coefficient: the offsets at which equations read it
  /// Each group is a range of statements [first, last) that read each other's results only at the point
  /// itself. A new group begins with a statement that reads `.next` of the group before it at displaced
  /// points.
  std::vector<std::pair<int, int>> groups;
  /// These count the arrays that one step must read (fields by level, derived coefficients) and write, each
  /// once.
  int fields_read = 0, coefficients_read = 0, fields_written = 0;

  /// Returns the bytes per point and step that must move, from the bytes of a stored value and of a
  /// coefficient.
  int bytes_per_point(int value_bytes, int coefficient_bytes) const {
    return (fields_read + fields_written) * value_bytes + coefficients_read * coefficient_bytes;
  }
};

SystemFacts facts_of(const Canonical& canonical);

/// Returns the facts of an equation as a line: "linear, constant weights; reads p at [-4..4, -4..4],
/// p.previous".
std::string text_of(const EquationFacts& facts, const Canonical& canonical);

}  // namespace spsolve
