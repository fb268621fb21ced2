// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference.hpp"

namespace spsolve {
namespace {

/// Returns u at any point of the infinite grid. Ghost points are resolved z first, because the axis that is
/// padded last covers the corners.
double padded(const Domain& domain, const std::vector<double>& u, Index3 p) {
  for (int axis = 0; axis < axis_count; ++axis) {
    const std::int64_t n = domain.shape[axis];
    if (p[axis] >= 0 && p[axis] < n) continue;
    const Face& face = domain.faces[axis][p[axis] < 0 ? low : high];
    if (face.kind == BoundaryKind::dirichlet) return face.value;
    p[axis] = face.kind == BoundaryKind::periodic ? wrap(p[axis], n) : reflect(p[axis], n);
  }
  return u[static_cast<std::size_t>(index_of(p, domain.shape))];
}

}  // namespace

std::vector<double> reference_step(const Domain& domain, const Stencil& stencil, const std::vector<double>& u,
                                   const std::vector<double>* source) {
  std::vector<double> next(u.size());
  std::size_t i = 0;
  for_each_point(domain.box(), [&](const Index3& p) {
    double sum = source ? (*source)[i] : 0.0;
    for (const Tap& tap : stencil.taps()) sum += tap.weight * padded(domain, u, p + tap.offset);
    next[i++] = sum;
  });
  return next;
}

std::vector<double> reference_steps(const Domain& domain, const Stencil& stencil, std::vector<double> u,
                                    int steps, const std::vector<double>* source) {
  for (int step = 0; step < steps; ++step) u = reference_step(domain, stencil, u, source);
  return u;
}

}  // namespace spsolve
