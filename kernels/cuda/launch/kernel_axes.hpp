// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "kernels/cuda/launch/arguments.hpp"
#include "kernels/domain.hpp"

namespace spsolve::cuda {

/// Returns the grid axis of each kernel axis. Kernels march along the slowest axis of the grid.
constexpr std::array<int, 3> grid_axes(const Domain& domain) {
  return domain.dimensions == 2 ? std::array{y_axis, z_axis, x_axis} : std::array{z_axis, y_axis, x_axis};
}

/// Maps per-kernel-axis flags to grid axes.
constexpr std::array<bool, 3> to_grid_axes(const std::array<bool, 3>& of_kernel_axes, const Domain& domain) {
  std::array<bool, 3> of_grid{};
  for (int k = 0; k < axis_count; ++k) of_grid[grid_axes(domain)[k]] = of_kernel_axes[k];
  return of_grid;
}

}  // namespace spsolve::cuda
