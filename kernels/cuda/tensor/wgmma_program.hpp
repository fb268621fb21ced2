// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cuda/runtime/block_limits.hpp"
#include "kernels/cuda/tensor/wgmma_arguments.hpp"
#include "kernels/no_kernel.hpp"
#include "kernels/precision.hpp"
#include "kernels/sparse/packed_operand.hpp"
#include "kernels/sparse/windowed_operand.hpp"
#include "kernels/stencil.hpp"

namespace spsolve::cuda {

/// How a block of wgmma_sweep.cuh is cut. 0: what is best; of ring and stages as many as fit shared memory,
/// up to a number that is enough.
struct WgmmaTile {
  int x_groups = 4;  // of eight tiles side by side, four at most
  int y_groups = 0;  // of these, one below the other
  int together = 0;  // times four rows that a warpgroup converts at once
  int ring = 0;      // four rows of input each; a multiple of `together`
  int stages = 0;    // of rows as they are in memory, four each; a multiple of four times `together`
};

/// What wgmma_sweep.cuh is compiled from, and the weights it loads, for one stencil. Made without a device.
class WgmmaProgram {
 public:
  static std::string kernel_name() { return "wgmma_sweep"; }

  /// `stencil` is of a 2D grid. NoKernel for stencils without an input_window, for devices without wgmma, and
  /// where shared memory does not hold the window of a tile.
  static MadeOr<WgmmaProgram> make(const Stencil& stencil, Precision precision, const BlockLimits& limits,
                                   const WgmmaTile& tile = {});

  /// constants.cuh; `aligned`: the window of every tile begins at a multiple of 16 bytes of the rows of
  /// memory, and its results, in those of output and source, at an even point.
  std::string constants(bool aligned, bool with_source) const;
  /// [part of the window, or term][step][lane of the warpgroup][4], times weight_scale(), second terms times
  /// pair_term_scale, too.
  std::vector<std::uint32_t> weights() const;
  /// [lane of the warpgroup].
  std::vector<std::uint32_t> metadata() const;

  /// Whether numbers and weights are two terms of fp16 each.
  bool pairs() const { return precision_ == Precision::fp32; }
  /// A power of two, so that small weights keep their bits in fp16.
  double weight_scale() const { return scale_; }

  /// Of a row of memory, in what the copy engine fetches at once.
  int box_columns(bool aligned) const;
  const WgmmaTile& tile() const { return tile_; }
  static int threads(bool = false) { return wgmma_threads; }
  const InputWindow& window() const { return window_; }
  int shared_bytes(bool = false) const { return shared_bytes(tile_); }

 private:
  /// `stencil` with weights as operands hold them.
  WgmmaProgram(const Stencil& stencil, Precision precision, const InputWindow& window, const WgmmaTile& tile);
  /// Takes for ring and stages what is best where `given` leaves them open; whether that fits the device.
  bool fit(const WgmmaTile& given, const BlockLimits& limits);
  Precision element() const { return pairs() ? Precision::fp16 : precision_; }
  /// Whether two warpgroups share each tile.
  bool halves() const { return window_.parts == 2; }
  /// Of the parts of the window or, of pairs, of both terms.
  std::vector<Operand> operands() const;
  PackedOperand packed(const Operand& operand) const;
  int shared_bytes(const WgmmaTile& tile) const;

  Precision precision_;
  Stencil stencil_;  // weights as operands hold them, of pairs as they are
  WgmmaTile tile_;
  InputWindow window_;
  double scale_ = 1.0;
};

}  // namespace spsolve::cuda
