// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "kernels/cuda/runtime/block_limits.hpp"
#include "kernels/cuda/tensor/separable_arguments.hpp"
#include "kernels/no_kernel.hpp"
#include "kernels/sparse/separable_operand.hpp"

namespace spsolve::cuda {

/// How separable.cuh is cut, or separable_planes.cuh for stencils with taps along z.
struct SeparableTile {
  int warps = 8;    // side by side along x
  int warps_y = 1;  // more than one, of 16 rows each: separable_planes.cuh
  int groups = 4;   // of 16 columns per warp
  int stages = 4;   // blocks of input in shared memory
  int ahead =
      2;  // blocks that are fetched before they are needed; warps may be stages - ahead - 1 blocks apart
  int blocks_per_multiprocessor = 1;
  bool weights_in_shared = false;
  bool shifted_rows = false;   // of input, where there is room, so that fewer lanes meet in a bank
  bool bulk_stores = false;    // by the copy engine (sm_90): rows of a warp are 32, 64 or n x 128 bytes
  bool staged_source = false;  // what a step adds comes to shared memory by the copy engine (sm_90)
  int groups_at_once = 1;      // in pass 1: neighbours share inputs where there are several windows along x
  int steps_per_strip = 0;  // blocks of input of a thread block after the first; 0: by the size of the grid

  int warp_columns() const { return 16 * groups; }
  int columns() const { return warp_columns() * warps; }
  int threads() const { return 32 * warps * warps_y; }
};

/// What follows from a tile.
struct SeparableShape {
  SeparableTile tile;
  int column_margin;  // first column of the input of a block, from its first output
  int window_column;  // column of the input at which the first window begins
  int row_margin;     // first row of the input, from the first output
  int row_elements;   // of the input in shared memory, halo and padding included
  int row_shift;      // columns by which rows of second slabs begin earlier, and so lie in other banks
  int block_rows;     // of one stage
  int shared_bytes;
};

/// What a kernel of separable sweeps is compiled from, and the weights it loads, for one stencil:
/// separable.cuh, or separable_planes.cuh where there are taps along z. Made without a device.
class SeparableProgram {
 public:
  /// `tile` instead of the best known one is for measurements. NoKernel for fp64, many terms or taps along z,
  /// and where no tile fits a block.
  static MadeOr<SeparableProgram> make(const SeparableStencil& stencil, Precision precision,
                                       const BlockLimits& limits = {},
                                       const std::optional<SeparableTile>& tile = std::nullopt);

  std::string kernel_name() const { return in_planes() ? "separable_planes" : "separable"; }
  /// constants.cuh; `aligned`: rows of outputs and source begin at multiples of 16 bytes.
  std::string constants(bool aligned, bool with_source) const;
  /// Of the operand, along x and then along y.
  std::vector<std::uint32_t> weights() const { return both(&ChainedAxis::values); }
  std::vector<std::uint32_t> metadata() const { return both(&ChainedAxis::metadata); }

  /// A launch, but for weights, maps of the copy engine, and how far blocks march.
  SeparableArguments arguments(const View& in, const View& out, const View& source,
                               const Region& region) const;
  /// Of a launch whose steps_per_strip and planes_per_block are set, {z, y, x}.
  Index3 blocks(const SeparableArguments& a) const;
  /// What the copy engine takes at once, of a view.
  struct CopiedBox {
    View view;
    int element_bytes, rows, columns;
  };
  /// Boxes of input, in words of 8 bytes, of which a box may have most columns; of results, whose map ends
  /// where rows and units of 16 bytes, the least that is stored, are all written; of a staged source.
  CopiedBox input_box(const SeparableArguments& a) const;
  CopiedBox output_box(const SeparableArguments& a) const;
  CopiedBox source_box(const SeparableArguments& a) const;

  const SeparableOperand& operand() const { return operand_; }
  /// With a source, tiles may be others: they have room for it.
  const SeparableShape& shape(bool with_source = false) const { return with_source ? sourced_ : shape_; }
  const SeparableTile& tile() const { return shape_.tile; }
  int threads(bool with_source = false) const { return shape(with_source).tile.threads(); }
  int shared_bytes(bool with_source = false) const { return shape(with_source).shared_bytes; }
  /// Whether there are taps along z: blocks march through planes.
  bool in_planes() const { return operand_.z_taps > 1; }
  /// Whether all taps lie along x: a line can be cut into rows.
  bool along_x() const { return along_x_; }

 private:
  SeparableProgram(const SeparableStencil& stencil, Precision precision);
  /// Why no kernel takes the operand, if none does.
  std::optional<NoKernel> refusal() const;
  std::vector<std::uint32_t> both(std::vector<std::uint32_t> ChainedAxis::*part) const;

  Precision precision_;
  bool along_x_;
  SeparableOperand operand_;
  SeparableShape shape_, sourced_;
};

constexpr int row_granule = 16, column_granule = 64;  // of outputs

/// Blocks of input per strip such that all strips end at about the same time.
std::int64_t steps_per_strip(std::int64_t rows, std::int64_t block_rows, std::int64_t column_tiles,
                             std::int64_t resident);

}  // namespace spsolve::cuda
