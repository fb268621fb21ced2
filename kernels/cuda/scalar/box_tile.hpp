// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "kernels/cuda/runtime/block_limits.hpp"
#include "kernels/cuda/scalar/kernel_stencil.hpp"
#include "kernels/cuda/scalar/shared_tile.hpp"

namespace spsolve::cuda {

/// How box_step.cuh is cut.
struct BoxTile : SharedTile {
  static constexpr const char* kernel = "box_step";
  friend auto operator<=>(const BoxTile& a, const BoxTile& b) {  // of kernels
    return std::array{a.lanes_x, a.warps, a.planes} <=> std::array{b.lanes_x, b.warps, b.planes};
  }
};

/// A tile of so many lanes, warps and planes, for stencils with taps across its rows, whose sums are not
/// folded.
BoxTile cut_box_tile(const KernelStencil& stencil, const Region& region, const Formats& formats,
                     const BlockLimits& limits, int lanes_x, int warps, int planes);

/// constants.cuh of box_step.cuh.
std::string constants_text(const KernelStencil& stencil, const Formats& formats, const BoxTile& tile);

}  // namespace spsolve::cuda
