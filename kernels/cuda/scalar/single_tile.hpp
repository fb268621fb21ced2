// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <variant>

#include "kernels/cuda/scalar/box_tile.hpp"
#include "kernels/cuda/scalar/star_tile.hpp"

namespace spsolve::cuda {

/// How tiles in shared memory take a single step, by box_step.cuh or star_step.cuh.
using SingleTile = std::variant<BoxTile, StarTile>;

/// How a single step of a region is taken, and the cycles that it takes.
struct SingleStep {
  std::optional<SingleTile> tile;  // none: by one thread per point (step.cuh)
  double cycles = 0;
};

/// The fastest.
SingleStep choose_single_step(const KernelStencil& stencil, const Region& region, const Formats& formats,
                              const BlockLimits& limits);

}  // namespace spsolve::cuda
