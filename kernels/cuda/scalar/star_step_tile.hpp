// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "kernels/cuda/launch/formats.hpp"
#include "kernels/cuda/runtime/block_limits.hpp"
#include "kernels/cuda/scalar/kernel_stencil.hpp"
#include "kernels/cuda/scalar/shared_memory_tile.hpp"

namespace spsolve::cuda {

/// Describes the tile of star_step.cuh.
struct StarStepTile : SharedMemoryTile {
  int own_rows = 0, own_columns = 0;  // results of a thread in a plane
  int stages = 0;                     // planes that shared memory holds

  static constexpr const char* kernel = "star_step";
  /// Orders tiles by what kernels are compiled from.
  friend auto operator<=>(const StarStepTile& a, const StarStepTile& b) {
    return std::array{a.lanes_x, a.warps, a.own_rows, a.stages} <=>
           std::array{b.lanes_x, b.warps, b.own_rows, b.stages};
  }
};

/// Returns the tile of `lanes_x` lanes along x, `warps` warps and `own_rows` rows per thread, with its
/// estimated cycles. Stencils are restricted as in cut_box_step_tile().
StarStepTile cut_star_step_tile(const KernelStencil& stencil, const Region& region, const Formats& formats,
                                const BlockLimits& limits, int lanes_x, int warps, int own_rows);

/// Returns the text of constants.cuh for star_step.cuh.
std::string constants_text(const KernelStencil& stencil, const Formats& formats, const StarStepTile& tile);

}  // namespace spsolve::cuda
