// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <variant>

#include "kernels/cuda/scalar/box_step_tile.hpp"
#include "kernels/cuda/scalar/star_step_tile.hpp"

namespace spsolve::cuda {

/// Holds the tile of a single step by box_step.cuh (dense step) or star_step.cuh (streaming step).
using SingleStepTile = std::variant<BoxStepTile, StarStepTile>;

/// Holds the kernel for a single step of a region, and its estimated cycles.
struct SingleStep {
  std::optional<SingleStepTile> tile;  // none: step.cuh, one thread per point
  double cycles = 0;
};

/// Returns the fastest kernel and tile for a single step.
SingleStep choose_single_step(const KernelStencil& stencil, const Region& region, const Formats& formats,
                              const BlockLimits& limits);

}  // namespace spsolve::cuda
