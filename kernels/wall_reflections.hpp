// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kernels/domain.hpp"
#include "kernels/precision.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// Returns the domain with `reflected` set for each wall axis where `steps` fused steps are exact if memory
/// beyond the walls holds reflections of the field. Values of walls are rounded to `precision`.
///
/// Neumann faces: if the weights are equal at reflected offsets along the axis, a step keeps a field even
/// about the face. The field beyond the face is therefore its reflection.
///
/// Dirichlet faces with value c: if also the weights sum to 1, or c is 0, a step keeps a field odd about the
/// first ghost point, apart from c. With radius 1 a step from the grid reads no other ghost point. The field
/// beyond the face is therefore 2 c minus its reflection about that point.
///
/// Faces of BoundaryKind::value with value c: under the same condition on the sum, and with any radius, a
/// step keeps a field odd about the face, apart from c. The field beyond the face is therefore 2 c minus its
/// reflection about the face.
///
/// A single step has no condition on the weights, because before it the ghost points equal these reflections.
/// Reflections of two axes must commute, so the values of both must be equal. Grids must be at least as wide
/// as the reflections. Axes with faces of BoundaryKind::filled have no reflections.
Domain with_wall_reflections(Domain domain, const Stencil& stencil, int steps, Precision precision);

/// Returns the name of an axis whose walls have no reflections, or nothing if there is none.
std::string axis_without_reflections(const Domain& domain);

/// Returns the domain with value 0 on the walls of `reflected` axes. Fields on that domain get nothing from
/// those walls.
Domain homogeneous(Domain domain);

}  // namespace spsolve
