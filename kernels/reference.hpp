// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/domain.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// Returns a field at any point of the infinite grid: ghosts are resolved z first, since the last axis padded
/// covers the corners.
template <class T>
T padded(const Domain& domain, const std::vector<T>& values, Index3 p) {
  for (int axis = 0; axis < axis_count; ++axis) {
    const std::int64_t n = domain.shape[axis];
    if (p[axis] >= 0 && p[axis] < n) continue;
    const Face& face = domain.faces[axis][p[axis] < 0 ? low : high];
    if (face.kind == BoundaryKind::dirichlet) return static_cast<T>(face.value);
    p[axis] = face.kind == BoundaryKind::periodic ? wrap(p[axis], n) : reflect(p[axis], n);
    if (face.kind == BoundaryKind::value) return static_cast<T>(2 * face.value) - padded(domain, values, p);
  }
  return values[static_cast<std::size_t>(index_of(p, domain.shape))];
}

/// Takes one time step on the whole grid in double by plain loops. This defines the correct answer
/// (docs/internals/numerics.md). `u` and `source` (null for none) have domain.shape, x fastest.
std::vector<double> reference_step(const Domain& domain, const Stencil& stencil, const std::vector<double>& u,
                                   const std::vector<double>* source = nullptr);

/// Takes `steps` single time steps.
std::vector<double> reference_steps(const Domain& domain, const Stencil& stencil, std::vector<double> u,
                                    int steps, const std::vector<double>* source = nullptr);

}  // namespace spsolve
