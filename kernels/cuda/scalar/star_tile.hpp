// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "kernels/cuda/runtime/block_limits.hpp"
#include "kernels/cuda/scalar/kernel_stencil.hpp"
#include "kernels/cuda/scalar/shared_tile.hpp"

namespace spsolve::cuda {

/// How star_step.cuh is cut.
struct StarTile : SharedTile {
  int own_rows = 0, own_columns = 0;  // of a thread
  int stages = 0;                     // planes in shared memory

  static constexpr const char* kernel = "star_step";
  friend auto operator<=>(const StarTile& a, const StarTile& b) {  // of kernels
    return std::array{a.lanes_x, a.warps, a.own_rows, a.stages} <=>
           std::array{b.lanes_x, b.warps, b.own_rows, b.stages};
  }
};

/// A tile of so many lanes, warps and rows of a thread, for stencils as box_step.cuh takes them.
StarTile cut_star_tile(const KernelStencil& stencil, const Region& region, const Formats& formats,
                       const BlockLimits& limits, int lanes_x, int warps, int own_rows);

/// constants.cuh of star_step.cuh.
std::string constants_text(const KernelStencil& stencil, const Formats& formats, const StarTile& tile);

}  // namespace spsolve::cuda
