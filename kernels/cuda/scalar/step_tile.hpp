// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "kernels/cuda/runtime/block_limits.hpp"
#include "kernels/cuda/scalar/kernel_stencil.hpp"

namespace spsolve::cuda {

/// How steps.cuh cuts a region for one launch.
struct StepTile {
  int stride = 0;                                  // columns of shared memory: its kernel
  std::int64_t planes = 0, columns = 0;            // that a block writes
  std::int64_t plane_tiles = 0, column_tiles = 0;  // of the region
  std::size_t shared_bytes = 0;
  double waves = 0;  // of blocks, one per multiprocessor
  // Of a block: turns of its threads until it has its points, of all steps; cycles of one of these; points
  // that a thread has in a turn.
  double load_turns = 0, turns = 0, turn_cycles = 0, points = 0;
  double cycles = 0;  // by which tiles are chosen
};

/// The fastest tile for so many steps of a region in one launch; none in 1D, in 3D (tiles would be mostly
/// halo) and where the steps reach further than tiles are wide.
std::optional<StepTile> choose_step_tile(const KernelStencil& stencil, const Region& region, int steps,
                                         int compute_bytes, const BlockLimits& limits);

/// The same where it is faster than a march: on small grids.
std::optional<StepTile> choose_small_tile(const KernelStencil& stencil, const Region& region, int steps,
                                          const Formats& formats, const BlockLimits& limits);

}  // namespace spsolve::cuda
