// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "kernels/cuda/launch/launch_shape.hpp"
#include "kernels/cuda/runtime/block_limits.hpp"
#include "kernels/cuda/scalar/kernel_stencil.hpp"

namespace spsolve::cuda {

constexpr int max_points_per_lane = 16;  // along x, at most, in any tile

/// Returns the best tile of march.cuh that advances the whole grid by `depth` steps in one kernel. Returns
/// nothing if no tile fits registers and shared memory (large radii, deep fusion).
std::optional<MarchTile> choose_march_tile(const KernelStencil& stencil, const Formats& formats, int depth,
                                           const BlockLimits& limits);

/// Returns the tile of a march that takes `steps` steps of an equation with two time levels
/// (KernelStencil::two_levels), in fp64 or fp32, or nothing if march.cuh does not take them, or if other
/// kernels have to step planes beside walls.
std::optional<MarchTile> two_level_tile(const Domain& domain, const Stencil& stencil, Precision precision,
                                        int steps, const BlockLimits& limits);

/// Describes a march of `tiles` tiles of one row over `planes` planes, away from walls.
SingleRowMarch single_row_march(const MarchTile& tile, std::int64_t planes, std::int64_t tiles,
                                const BlockLimits& limits);

/// Returns what walls cost tiles of one row. The cost is zero for kernels that do not march (no taps along
/// the march axis).
WallCost wall_cost(const KernelStencil& stencil, const MarchTile& tile, int compute_bytes,
                   const Calibration& costs);

/// Returns how many steps per kernel are fastest; 0 if march.cuh does not take the stencil or the grid at
/// all.
int preferred_depth(const KernelStencil& stencil, const Formats& formats, const BlockLimits& limits);

/// Returns the periodic axes whose ends the kernels connect by themselves, so that memory needs no periodic
/// copies, for launches of up to `steps` steps. Candidates are the axes that `block`, the largest block,
/// spans completely.
///
/// Rows must consist of whole vectors of 16 bytes. If the stencil is marched, only rows of 3D grids that hold
/// at least one tile can repeat. If single steps use tiles in shared memory, every axis can repeat that is at
/// least as long as the stencil reaches.
std::array<bool, 3> wrapped_axes(const KernelStencil& stencil, const Region& block, Precision precision,
                                 int steps, const BlockLimits& limits);

}  // namespace spsolve::cuda
