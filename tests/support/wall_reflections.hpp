// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/operator/filled_face.hpp"
#include "tests/support/random_case.hpp"

namespace spsolve::testing {

/// Holds the value of the field beyond walls, as steps of symmetric weights continue it: offset + scale *
/// (the value at `point`).
struct ReflectedPoint {
  Index3 point;
  double scale = 1, offset = 0;

  double apply(double value) const { return scale == 0 ? offset : offset + scale * value; }
};

/// Reflects a point until it lies in the grid, axis by axis.
ReflectedPoint reflected_point(const Domain& domain, Index3 p);

/// Turns all walls of a field into faces of BoundaryKind::filled and returns what fills them, if a face is of
/// BoundaryKind::value; else returns nothing.
std::vector<FilledFace> fill_value_faces(Domain& domain);

/// Returns a problem whose walls may all have reflections: symmetric weights that sum to 1 (or to less, if
/// all walls have the value 0), with radius 1 across dirichlet faces. Values are the same on all axes, or
/// only one axis has them, with any two values. `with_value_faces` turns most dirichlet faces into faces of
/// BoundaryKind::value.
RandomCase with_symmetric_weights(RandomCase problem, int largest_radius, bool with_value_faces = false);

}  // namespace spsolve::testing
