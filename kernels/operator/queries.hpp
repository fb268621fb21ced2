// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/no_kernel.hpp"
#include "kernels/operator/canonical.hpp"
#include "kernels/operator/linear_form.hpp"

namespace spsolve {

enum class Linearity { constant_weights, varying_weights, nonlinear };

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
  Linearity linearity;
  std::vector<int> nonlinear_in;  // fields
  bool has_terms_without_fields;  // sources
  bool inexact_functions;         // exp and similar functions in every step: bits differ between CPU and GPU
};

/// Holds the properties of a system.
struct SystemFacts {
  std::vector<EquationFacts> equations;  // in the order of the statements
  /// The offsets at which a whole step reads each field at step n, and at the step before, directly or
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

/// Returns the box on which each statement must be computed so that all results are known on `region`. It is
/// the region grown by the offsets at which later statements read the `.next`, clipped to walls.
std::vector<Box> statement_boxes(const SystemFacts& facts, const Domain& domain, const Box& region);

/// Returns how far around a region a step reads fields, or computes statements that others read at displaced
/// points.
Index3 halo_radius(const SystemFacts& facts, const Domain& domain);

/// Returns true if a derived coefficient repeats beyond the ends of an axis: the axis is periodic, and
/// equations read the coefficient nowhere but at the point itself along it. A coordinate in a coefficient
/// that they read displaced continues there instead: of the last point's neighbour, not of the first point.
bool repeats_along(const SystemFacts& facts, std::size_t coefficient, const Domain& domain, int axis);

/// Returns a periodic axis along which a statement is computed beyond the ends of the grid although it reads
/// a coordinate of that axis in a coefficient that does not repeat, if there is one. Fields repeat beyond the
/// ends, so the result there would differ from the statement's value at the corresponding grid point. `steps`
/// are taken between two exchanges of halos; all but the last of several are computed beyond the ends.
std::optional<int> axis_of_ambiguous_coordinate(const Canonical& canonical, const SystemFacts& facts,
                                                const Domain& domain, int steps = 1);

/// Returns why no launch takes several steps of a system on any device, or nothing if one may. `fields` hold
/// the walls of each field.
std::optional<NoKernel> why_single_steps(const Canonical& canonical, const SystemFacts& facts,
                                         const std::vector<Domain>& fields, int steps);

/// Returns the equation as weights per field and level if it is linear with constant weights, and nothing
/// otherwise. Terms without fields are left out. Throws as LinearForm does.
std::optional<std::map<LinearSource, std::vector<Tap>>> constant_weights(const Canonical& canonical,
                                                                         const Reading& equation);

/// Returns the weights of a system that consists of the single equation u.next = sum of weights times u, so
/// that a stencil computes the same bits. Returns nothing for any other system.
std::optional<Stencil> single_stencil(const Canonical& canonical);

/// Returns the facts of an equation as a line: "linear, constant weights; reads p at [-4..4, -4..4],
/// p.previous".
std::string text_of(const EquationFacts& facts, const Canonical& canonical);

}  // namespace spsolve
