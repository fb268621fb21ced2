// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "kernels/cuda/launch/formats.hpp"
#include "kernels/cuda/runtime/block_limits.hpp"
#include "kernels/cuda/scalar/kernel_stencil.hpp"
#include "kernels/cuda/scalar/shared_memory_tile.hpp"

namespace spsolve::cuda {

/// Describes the tile of box_step.cuh.
struct BoxStepTile : SharedMemoryTile {
  static constexpr const char* kernel = "box_step";
  /// Orders tiles by what kernels are compiled from.
  friend auto operator<=>(const BoxStepTile& a, const BoxStepTile& b) {
    return std::array{a.lanes_x, a.warps, a.planes} <=> std::array{b.lanes_x, b.warps, b.planes};
  }
};

/// Returns the tile of `lanes_x` lanes along x, `warps` warps and `planes` planes, with its estimated cycles.
/// The stencil has taps across rows, and its sums are not folded.
BoxStepTile cut_box_step_tile(const KernelStencil& stencil, const Region& region, const Formats& formats,
                              const BlockLimits& limits, int lanes_x, int warps, int planes);

/// Returns the text of constants.cuh for box_step.cuh.
std::string constants_text(const KernelStencil& stencil, const Formats& formats, const BoxStepTile& tile);

}  // namespace spsolve::cuda
