// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "kernels/cuda/block_limits.hpp"
#include "kernels/cuda/kernel_stencil.hpp"

namespace spsolve::cuda {

constexpr int most_points_per_lane = 16;  // neighbours in x, of any tile

/// The best tile of march.cuh for so many steps of the whole grid in one kernel, or none if its registers or
/// shared memory do not do (large radii, deep fusion).
std::optional<Tile> choose_tile(const KernelStencil& stencil, const Formats& formats, int depth,
                                const BlockLimits& limits);

/// Planes that a block takes before the first that it writes, in planes of full work: half of it is left out
/// but in 3D stars (march.cuh).
std::int64_t warm_up_planes(const KernelStencil& stencil, const Tile& tile);

/// How many steps in one kernel are fastest; 0 if march.cuh does not take the stencil or the grid at all.
int preferred_depth(const KernelStencil& stencil, const Formats& formats, const BlockLimits& limits);

}  // namespace spsolve::cuda
