// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cuda/device.hpp"
#include "kernels/precision.hpp"
#include "kernels/sparse/windowed_operand.hpp"
#include "kernels/stencil.hpp"

namespace spsolve::cuda {

/// How a block of wgmma_sweep.cuh is cut. 0: as many as fit shared memory.
struct WgmmaTile {
  int x_groups = 4;  // of eight tiles side by side
  int y_groups = 1;  // of these, one below the other
  int ring = 0;      // four rows of input each
  int stages = 0;    // of rows as they are in memory, four each
};

/// What wgmma_sweep.cuh is compiled from, and the weights it loads, for one stencil. Made without a device.
class WgmmaProgram {
 public:
  /// `stencil` is of a 2D grid. Throws std::invalid_argument for what the kernel does not take: other
  /// precisions than tf32 and fp32, stencils without an input_window, and devices without wgmma.
  WgmmaProgram(const Stencil& stencil, Precision precision, const BlockLimits& limits, WgmmaTile tile = {});

  /// constants.cuh; `aligned`: the window of every tile begins at a multiple of 16 bytes of the rows of
  /// memory, and its results at one of 8.
  std::string constants(bool aligned, bool with_source) const;
  /// [operand][step][lane of the warpgroup][4]: tf32, and of fp32 the corrections, two of each row.
  std::vector<std::uint32_t> weights() const;
  /// [tf32, bf16][lane of the warpgroup].
  std::vector<std::uint32_t> metadata() const;

  const WgmmaTile& tile() const { return tile_; }
  const InputWindow& window() const { return window_; }
  int shared_bytes() const { return shared_bytes(tile_); }

 private:
  bool split() const { return precision_ == Precision::fp32; }
  int shared_bytes(const WgmmaTile& tile) const;

  Precision precision_;
  Stencil stencil_;  // weights as operands hold them
  WgmmaTile tile_;
  InputWindow window_;
};

}  // namespace spsolve::cuda
