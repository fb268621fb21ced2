// SPDX-License-Identifier: Apache-2.0
#include "kernels/wall_reflections.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace spsolve {
namespace {

/// Returns true if a step keeps constants, except for the rounding of weights and of their sum.
bool keeps_constants(const Stencil& stencil) {
  double sum = 0;
  for (const Tap& tap : stencil.taps()) sum += tap.weight;
  return std::abs(sum - 1) <= static_cast<double>(stencil.taps().size()) *
                                  std::numeric_limits<double>::epsilon() * sum_abs(stencil);
}

/// Returns true if a face of the axis sets a value.
bool has_value(const Domain& domain, int axis) {
  return std::ranges::any_of(domain.faces[axis], &Face::has_value);
}

/// Returns the value of a face, rounded as ghost points of `precision` are: dirichlet faces store it, and
/// others compute with it.
double as_ghosts_hold(const Face& face, Precision precision) {
  return with_storage(precision, [&]<class Storage>() -> double {
    if (face.kind == BoundaryKind::dirichlet) return stored_value(to_storage<Storage>(face.value));
    return static_cast<Compute<Storage>>(face.value);
  });
}

}  // namespace

Domain with_wall_reflections(Domain domain, const Stencil& stencil, int steps, Precision precision) {
  const Index3& radius = stencil.radius();
  int axes_with_values = 0;
  std::set<double> values;  // values of faces that may have reflections
  for (int axis = 0; axis < axis_count; ++axis) {
    if (domain.periodic(axis)) continue;
    bool exact = steps * radius[axis] <= domain.shape[axis] && (steps == 1 || is_even(stencil, axis));
    for (Face& face : domain.faces[axis]) {
      face.value = as_ghosts_hold(face, precision);
      exact = exact && face.kind != BoundaryKind::filled &&
              (face.kind != BoundaryKind::dirichlet || radius[axis] <= 1) &&
              (steps == 1 || face.value == 0 || keeps_constants(stencil));
    }
    domain.reflected[axis] = exact;
    axes_with_values += has_value(domain, axis);
    if (!exact) continue;
    for (const Face& face : domain.faces[axis])
      if (face.has_value()) values.insert(face.value);
  }
  const bool reflections_commute = axes_with_values <= 1 || values.size() <= 1;
  for (int axis = 0; axis < axis_count; ++axis)
    if (!reflections_commute && has_value(domain, axis)) domain.reflected[axis] = false;
  return domain;
}

std::string axis_without_reflections(const Domain& domain) {
  for (int axis = domain.first_axis(); axis < axis_count; ++axis)
    if (!domain.periodic(axis) && !domain.reflected[axis]) return {"zyx"[axis]};
  return "";
}

Domain homogeneous(Domain domain) {
  for (int axis = 0; axis < axis_count; ++axis)
    for (Face& face : domain.faces[axis])
      if (domain.reflected[axis]) face.value = 0;
  return domain;
}

}  // namespace spsolve
