// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <variant>

#include "kernels/cuda/box_tile.hpp"
#include "kernels/cuda/star_tile.hpp"

namespace spsolve::cuda {

/// How tiles in shared memory take a single step, by box_step.cuh or star_step.cuh.
using SingleTile = std::variant<BoxTile, StarTile>;

/// The fastest for a step of a region, where it is faster than one thread per point (step.cuh).
std::optional<SingleTile> choose_single_tile(const KernelStencil& stencil, const Region& region,
                                             const Formats& formats, const BlockLimits& limits);

/// Cycles that a tile takes.
inline double cycles_of(const SingleTile& tile) {
  return std::visit([](const auto& of_kernel) { return of_kernel.cycles; }, tile);
}

}  // namespace spsolve::cuda
