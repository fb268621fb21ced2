// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "kernels/cuda/block_limits.hpp"
#include "kernels/cuda/kernel_stencil.hpp"

namespace spsolve::cuda {

/// How box_step.cuh is cut.
struct BoxTile {
  int lanes_x = 0;                    // of a warp, side by side along x; the others are rows
  int warps = 0;                      // stacked along rows
  int planes = 0;                     // that a block writes
  int blocks_per_multiprocessor = 0;  // what registers and shared memory are limited to
  int columns = 0, rows = 0;          // that a block writes
  int pitch = 0;                      // of rows in shared memory, in points
  std::size_t shared_bytes = 0;
  double cycles = 0;  // of a step of the region, by which tiles are chosen

  static constexpr const char* kernel = "box_step";
  friend auto operator<=>(const BoxTile& a, const BoxTile& b) {  // of kernels
    return std::array{a.lanes_x, a.warps, a.planes} <=> std::array{b.lanes_x, b.warps, b.planes};
  }
};

/// A tile of so many lanes, warps and planes, whether it fits a multiprocessor (blocks_per_multiprocessor >
/// 0) or not.
BoxTile cut_box_tile(const KernelStencil& stencil, const Region& region, const Formats& formats,
                     const BlockLimits& limits, int lanes_x, int warps, int planes);

/// The fastest tile for a step of a region, for stencils in 2D and 3D. None for folded sums.
std::optional<BoxTile> choose_box_tile(const KernelStencil& stencil, const Region& region,
                                       const Formats& formats, const BlockLimits& limits);

/// constants.cuh of box_step.cuh.
std::string constants_text(const KernelStencil& stencil, const Formats& formats, const BoxTile& tile);

}  // namespace spsolve::cuda
