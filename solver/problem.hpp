// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "kernels/domain.hpp"
#include "kernels/operator/filled_face.hpp"
#include "kernels/precision.hpp"
#include "kernels/stencil.hpp"
#include "solver/equations.hpp"

namespace spsolve {

/// Describes the problem to be solved: u' = stencil(u) + source on the domain, or a system of equations. The
/// result is as exact as `precision` promises (docs/internals/numerics.md). The problem is global: it is the
/// same on every rank, whatever the decomposition.
struct Problem {
  Domain domain;    // the grid, and the walls of the first field, as far as Face can express them
  Stencil stencil;  // with equations: Equations::stencil, or a single weight of 1
  Precision precision = Precision::fp64;
  bool has_source = false;
  /// These are the equations of a step; null for a single field that a stencil advances.
  std::shared_ptr<const Equations> equations = {};
  std::string single_name = "u";  // the name of the field that a stencil advances
  bool has_points = false;        // amounts are added to points, or their values recorded, in every step

  /// Returns true if Face cannot express some wall of the first field: a flux, a Robin condition, or a value
  /// that varies.
  bool has_general_walls() const { return domain.has_faces(BoundaryKind::filled); }
  /// Returns how far a step reads, per axis.
  Index3 radius() const { return equations ? equations->radius() : stencil.radius(); }
  const Domain& domain_of(std::size_t field) const { return equations ? equations->domains[field] : domain; }
  std::size_t field_count() const { return equations ? equations->domains.size() : 1; }
  std::string field_name(std::size_t field) const {
    return equations ? equations->canonical.field_names[field] : single_name;
  }
  /// Returns the number of the field with a name, or field_count() if there is none.
  std::size_t field_number(const std::string& name) const {
    std::size_t field = 0;
    while (field < field_count() && field_name(field) != name) ++field;
    return field;
  }
  /// Returns true if a step reads the values of a field one step before.
  bool has_previous(std::size_t field) const { return equations && equations->has_previous(field); }
  /// Returns the number of arrays that a checkpoint holds: the fields, and previous values of some.
  std::size_t state_count() const {
    std::size_t count = field_count();
    for (std::size_t field = 0; field < field_count(); ++field) count += has_previous(field);
    return count;
  }
  /// Returns true if the state holds the values of all fields one step before, too.
  bool keeps_previous() const { return state_count() == 2 * field_count(); }
  /// Returns the number of arrays of a field if launches take up to `fuse` steps: two without values one step
  /// before, three with them, and four if launches of several steps write them, too.
  std::size_t arrays_of(std::size_t field, int fuse) const {
    return !has_previous(field) ? 2 : fuse > 1 ? 4 : 3;
  }
  /// Returns the number of arrays that hold all fields.
  std::size_t array_count(int fuse = 1) const {
    std::size_t count = 0;
    for (std::size_t field = 0; field < field_count(); ++field) count += arrays_of(field, fuse);
    return count;
  }
};

/// Returns a problem of equations.
inline Problem system_problem(std::shared_ptr<const Equations> equations, Precision precision) {
  const Domain domain = with_plain_faces(equations->domains.front(), equations->filled, 0);
  const Stencil stencil = equations->stencil.value_or(Stencil({1, 1, 1}, {1.0}, {0, 0, 0}));
  return {domain, stencil, precision, false, std::move(equations)};
}

}  // namespace spsolve
