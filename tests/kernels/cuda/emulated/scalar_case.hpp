// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the cases of kernels of the scalar unit share.

#include "case_named.hpp"
#include "kernels/cuda/kernel_stencil.hpp"
#include "kernels/cuda/view.hpp"
#include "tests/support/shape_case.hpp"

namespace spsolve::cuda {

inline constexpr BoundaryKind periodic = BoundaryKind::periodic, dirichlet = BoundaryKind::dirichlet,
                              neumann = BoundaryKind::neumann;
inline constexpr Precision fp32 = Precision::fp32, fp64 = Precision::fp64, tf32 = Precision::tf32;

/// What every kernel is told of a launch.
inline Arguments scalar_arguments(const testing::RandomCase& problem, const Field& in, const Field& out,
                                  const Field& source, const Box& region) {
  const std::array<int, 3> axes = grid_axes(problem.domain);
  Arguments a{};
  a.in = view_of(in, axes);
  a.out = view_of(out, axes);
  a.source = view_of(source, axes);
  a.region = region_of(region, axes);
  for (int k = 0; k < axis_count; ++k) {
    a.shape[k] = problem.domain.shape[axes[k]];
    for (const Side side : {low, high}) {
      a.ghost[k][side] = problem.domain.faces[axes[k]][side].value;
      a.ghost_fp32[k][side] = static_cast<float>(a.ghost[k][side]);
    }
  }
  return a;
}

}  // namespace spsolve::cuda
