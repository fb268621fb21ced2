// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "kernels/cuda/block_limits.hpp"
#include "kernels/cuda/kernel_stencil.hpp"

namespace spsolve::cuda {

/// How star_step.cuh is cut.
struct StarTile {
  int lanes_x = 0;                    // of a warp, side by side along x; the others are rows
  int warps = 0;                      // stacked along rows
  int own_rows = 0;                   // of a thread
  int stages = 0;                     // planes in shared memory
  int blocks_per_multiprocessor = 0;  // what registers and shared memory are limited to
  int planes = 0;                     // that a block writes
  int columns = 0, rows = 0;
  int pitch = 0;  // of rows in shared memory, in points
  std::size_t shared_bytes = 0;
  double cycles = 0;  // of a step of the region, by which tiles are chosen

  static constexpr const char* kernel = "star_step";
  friend auto operator<=>(const StarTile& a, const StarTile& b) {  // of kernels
    return std::array{a.lanes_x, a.warps, a.own_rows, a.stages} <=>
           std::array{b.lanes_x, b.warps, b.own_rows, b.stages};
  }
};

/// A tile of so many lanes, warps and rows of a thread, whether it fits a multiprocessor
/// (blocks_per_multiprocessor > 0) or not.
StarTile cut_star_tile(const KernelStencil& stencil, const Region& region, const Formats& formats,
                       const BlockLimits& limits, int lanes_x, int warps, int own_rows);

/// The fastest tile for a step of a region, for stencils in 2D and 3D of few taps. None for folded sums.
std::optional<StarTile> choose_star_tile(const KernelStencil& stencil, const Region& region,
                                         const Formats& formats, const BlockLimits& limits);

/// constants.cuh of star_step.cuh.
std::string constants_text(const KernelStencil& stencil, const Formats& formats, const StarTile& tile);

}  // namespace spsolve::cuda
