// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cuda/runtime/block_limits.hpp"
#include "kernels/cuda/tensor/tensor_cores.hpp"
#include "kernels/cuda/tensor/wgmma_arguments.hpp"
#include "kernels/no_kernel.hpp"
#include "kernels/precision.hpp"
#include "kernels/sparse/packed_operand.hpp"
#include "kernels/sparse/windowed_operand.hpp"
#include "kernels/stencil.hpp"

namespace spsolve::cuda {

/// Describes a block of wgmma_sweep.cuh. 0 means the best value; for ring and stages, as many as fit shared
/// memory, up to a sufficient number.
struct WgmmaTile {
  int x_groups = 4;  // groups of eight tiles side by side, at most four
  int y_groups = 0;  // groups one below the other
  int together = 0;  // quads (four rows) that a warpgroup converts at once
  int ring = 0;      // slots of four rows of input; a multiple of `together`
  int stages = 0;    // stages of four raw rows; a multiple of four times `together`
};

/// Holds the source of wgmma_sweep.cuh, and the weights it loads, for one stencil. A program is made without
/// a device.
class WgmmaProgram {
 public:
  static std::string kernel_name() { return "wgmma_sweep"; }

  /// `stencil` is two-dimensional. Returns NoKernel for stencils without an input_window, for devices without
  /// wgmma, and if shared memory does not hold the window of a tile. Dense cores take 16-bit formats and
  /// windows of one part and up to max_dense_rows rows.
  static OrNoKernel<WgmmaProgram> make(const Stencil& stencil, Precision precision, const BlockLimits& limits,
                                       const WgmmaTile& tile = {}, TensorCores cores = TensorCores::sparse);

  /// Returns the text of constants.cuh. `aligned`: the window of every tile begins at a multiple of 16 bytes
  /// of the rows of memory, and its results begin at an even point of output and source.
  std::string constants(bool aligned, bool with_source, double source_factor = 1) const;
  /// Returns the weights, [part of the window, or term][step][lane of the warpgroup][4], times
  /// weight_scale(); second terms are also multiplied by pair_term_scale.
  std::vector<std::uint32_t> weights() const;
  /// Returns the metadata, [lane of the warpgroup].
  std::vector<std::uint32_t> metadata() const;

  bool is_dense() const { return cores_ == TensorCores::dense; }
  /// Returns true if data and weights are two fp16 terms each.
  bool pairs() const { return precision_ == Precision::fp32; }
  /// Returns a power of two, with which small weights keep their bits in fp16.
  double weight_scale() const { return scale_; }

  /// Returns the columns of a box that the copy engine fetches.
  int box_columns(bool aligned) const;
  const WgmmaTile& tile() const { return tile_; }
  static int threads(bool = false) { return wgmma_threads; }
  const InputWindow& window() const { return window_; }
  int shared_bytes(bool = false) const { return shared_bytes(tile_); }

 private:
  /// `stencil` has the weights that operands hold.
  WgmmaProgram(const Stencil& stencil, Precision precision, const InputWindow& window, const WgmmaTile& tile,
               TensorCores cores);
  /// Sets the best ring and stages where `given` leaves them open. Returns true if they fit the device.
  bool fit(const WgmmaTile& given, const BlockLimits& limits);
  Precision element() const { return pairs() ? Precision::fp16 : precision_; }
  /// Returns true if two warpgroups share each tile.
  bool halves() const { return window_.parts == 2; }
  /// Returns the operands of the parts of the window or, for pairs, of both terms.
  std::vector<Operand> operands() const;
  PackedOperand packed(const Operand& operand) const;
  int shared_bytes(const WgmmaTile& tile) const;

  Precision precision_;
  Stencil stencil_;  // weights as operands hold them; for pairs, as given
  WgmmaTile tile_;
  TensorCores cores_;
  InputWindow window_;
  double scale_ = 1.0;
};

}  // namespace spsolve::cuda
