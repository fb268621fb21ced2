// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/operator/canonical.hpp"
#include "kernels/operator/linear_form.hpp"

namespace spsolve {

enum class Linearity { constant_weights, varying_weights, nonlinear };

/// A field at a level of time.
struct FieldLevel {
  int field;
  Level level;

  friend auto operator<=>(const FieldLevel&, const FieldLevel&) = default;
};

/// What there is to know of one equation.
struct EquationFacts {
  int field;                        // that it advances
  std::map<FieldLevel, Box> reach;  // the box of offsets at which each field is read
  Linearity linearity;
  std::vector<int> nonlinear_in;  // fields
  bool has_terms_without_fields;  // sources
  bool inexact_functions;         // exp and the like while the run goes on: bits differ between CPU and GPU
};

/// What there is to know of a system.
struct SystemFacts {
  std::vector<EquationFacts> equations;  // in the order of the statements
  /// Offsets at which a whole step reads values of step n, and of the step before, of each field: through
  /// `.next` and displaced expressions too. Empty boxes where a field is not read.
  std::vector<Box> reach_now, reach_previous;
  Index3 radius{};                     // of all those
  std::vector<Box> coefficient_reach;  // per derived coefficient the offsets at which equations read it
  /// Statements [first, last) that need no point of each other's results but the one that they are at: a new
  /// group begins with a statement that reads `.next` of the group before it at displaced points.
  std::vector<std::pair<int, int>> groups;
  /// Arrays that one step must read (fields by level, derived coefficients) and write, each once.
  int fields_read = 0, coefficients_read = 0, fields_written = 0;

  /// Bytes per point and step that must move, from the bytes of a stored value and of a coefficient.
  int bytes_per_point(int value_bytes, int coefficient_bytes) const {
    return (fields_read + fields_written) * value_bytes + coefficients_read * coefficient_bytes;
  }
};

SystemFacts facts_of(const Canonical& canonical);

/// The box on which each statement must be computed so that all are known on `region`: grown by what later
/// statements read of its `.next`, cut off at walls.
std::vector<Box> statement_boxes(const SystemFacts& facts, const Domain& domain, const Box& region);

/// Returns how far around a region a step reads fields, or computes statements that others read displaced.
Index3 halo_radius(const SystemFacts& facts, const Domain& domain);

/// Returns a periodic axis along which a statement is computed beyond the ends of the grid although it reads
/// a coordinate of that axis, if there is one. Coordinates go on beyond the ends where values repeat, so that
/// what is computed there would not be the statement's value at the point it stands for.
std::optional<int> axis_of_ambiguous_coordinate(const Canonical& canonical, const SystemFacts& facts,
                                                const Domain& domain);

/// Returns the equation as weights per field and level, where it is linear with constant weights; what it
/// adds without fields is left out. Throws as LinearForm does.
std::optional<std::map<LinearSource, std::vector<Tap>>> constant_weights(const Canonical& canonical,
                                                                         const Reading& equation);

/// Returns the weights of a system that is u.next = sum of weights times u as a whole, so that a stencil
/// computes the same bits; nothing for any other system.
std::optional<Stencil> single_stencil(const Canonical& canonical);

/// Returns the facts of an equation as a line: "linear, constant weights; reads p at [-4..4, -4..4],
/// p.previous".
std::string text_of(const EquationFacts& facts, const Canonical& canonical);

}  // namespace spsolve
