// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "kernels/cuda/launch/formats.hpp"
#include "kernels/cuda/runtime/block_limits.hpp"
#include "kernels/cuda/scalar/kernel_stencil.hpp"

namespace spsolve::cuda {

/// Describes how steps.cuh divides a region of a small 2D grid for one launch of several steps.
struct SmallGridTile {
  int stride = 0;                        // row length in shared memory, in points; selects the kernel
  std::int64_t planes = 0, columns = 0;  // written by a block
  std::int64_t plane_tiles = 0, column_tiles = 0;  // number of tiles in the region
  std::size_t shared_bytes = 0;
  double waves = 0;  // waves of blocks, one block per multiprocessor
  // Counts per block: turns of its threads to load the points, turns for all steps, cycles per turn, points
  // of a thread per turn.
  double load_turns = 0, turns = 0, turn_cycles = 0, points = 0;
  double cycles = 0;  // estimate by which tiles are chosen
};

/// Returns the fastest tile for `steps` steps of a region in one launch. Returns nothing in 1D, in 3D (tiles
/// would be mostly halo), and if the steps reach farther than tiles are wide.
std::optional<SmallGridTile> choose_small_grid_tile(const KernelStencil& stencil, const Region& region,
                                                    int steps, int compute_bytes, const BlockLimits& limits);

/// Returns the tile of choose_small_grid_tile() only if it is faster than a march, as on small grids.
std::optional<SmallGridTile> choose_faster_small_grid_tile(const KernelStencil& stencil, const Region& region,
                                                           int steps, const Formats& formats,
                                                           const BlockLimits& limits);

}  // namespace spsolve::cuda
