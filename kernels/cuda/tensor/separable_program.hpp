// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "kernels/cuda/launch/view.hpp"
#include "kernels/cuda/runtime/block_limits.hpp"
#include "kernels/cuda/tensor/separable_arguments.hpp"
#include "kernels/no_kernel.hpp"
#include "kernels/sparse/separable_operand.hpp"

namespace spsolve::cuda {

/// Describes the tile of separable.cuh, or of separable_planes.cuh for stencils with taps along z.
struct SeparableTile {
  int warps = 8;    // side by side along x
  int warps_y = 1;  // separable_planes.cuh: warps along y, of 16 rows each
  int groups = 4;   // groups of 16 columns per warp
  int stages = 4;   // blocks of input in shared memory
  int ahead = 2;    // blocks fetched ahead of use; warps may be stages - ahead - 1 blocks apart
  int blocks_per_multiprocessor = 1;
  bool weights_in_shared = false;
  bool shifted_rows = false;   // shift rows of input, if there is room, to reduce bank conflicts
  bool bulk_stores = false;    // store by the copy engine (sm_90): rows of a warp are 32, 64 or n x 128 bytes
  bool staged_source = false;  // the copy engine brings the source of a step to shared memory (sm_90)
  int groups_at_once = 1;      // groups that share inputs in pass 1, if there are several windows along x
  // A thread block reads this many blocks of input after the first one. If the number is 0, the size of the
  // grid determines it.
  int steps_per_strip = 0;

  int warp_columns() const { return 16 * groups; }
  int columns() const { return warp_columns() * warps; }
  int threads() const { return 32 * warps * warps_y; }
};

/// Holds the sizes that follow from a tile.
struct SeparableShape {
  SeparableTile tile;
  int column_margin;  // first column of a block's input, from its first output
  int window_column;  // column of the input at which the first window begins
  int row_margin;     // first row of the input, from the first output
  int row_elements;   // row length of the input in shared memory, halo and padding included
  int row_shift;      // columns by which rows of second slabs begin earlier, so that they lie in other banks
  int block_rows;     // rows of one stage
  int shared_bytes;
};

/// Holds the source of a kernel of separable sweeps, and the weights it loads, for one stencil:
/// separable.cuh, or separable_planes.cuh if there are taps along z. A program is made without a device.
class SeparableProgram {
 public:
  /// `tile` replaces the best known tile, for measurements. Returns NoKernel for fp64, for too many terms or
  /// taps along z, and for stencils for which no tile fits a block.
  static OrNoKernel<SeparableProgram> make(const SeparableStencil& stencil, Precision precision,
                                           const BlockLimits& limits = {},
                                           const std::optional<SeparableTile>& tile = std::nullopt);

  std::string kernel_name() const { return in_planes() ? "separable_planes" : "separable"; }
  /// Returns the text of constants.cuh. `aligned`: rows of output and source begin at multiples of 16 bytes.
  std::string constants(bool aligned, bool with_source, double source_factor = 1) const;
  /// Return weights and metadata of the operand, along x and then along y.
  std::vector<std::uint32_t> weights() const { return both(&ChainedAxis::values); }
  std::vector<std::uint32_t> metadata() const { return both(&ChainedAxis::metadata); }

  /// Returns the arguments of a launch, except weights, tensor maps, and how far blocks march.
  SeparableArguments arguments(const View& in, const View& out, const View& source,
                               const Region& region) const;
  /// Returns the grid of blocks, {z, y, x}, of a launch whose steps_per_strip and planes_per_block are set.
  Index3 blocks(const SeparableArguments& a) const;
  /// Return the boxes of the input, of the results and of a staged source. The input counts words of 8 bytes,
  /// with which a box covers the most columns. The view of the results ends at the last row and at the last
  /// 16 bytes, the smallest unit of a store, that are written completely.
  CopiedBox input_box(const SeparableArguments& a) const;
  CopiedBox output_box(const SeparableArguments& a) const;
  CopiedBox source_box(const SeparableArguments& a) const;

  const SeparableOperand& operand() const { return operand_; }
  /// Returns the shape of tiles; with a source, tiles may differ, because they need room for it.
  const SeparableShape& shape(bool with_source = false) const { return with_source ? sourced_ : shape_; }
  const SeparableTile& tile() const { return shape_.tile; }
  int threads(bool with_source = false) const { return shape(with_source).tile.threads(); }
  int shared_bytes(bool with_source = false) const { return shape(with_source).shared_bytes; }
  /// Returns true if there are taps along z; blocks then march through planes.
  bool in_planes() const { return operand_.z_taps > 1; }
  /// Returns true if all taps lie along x; a line can then be cut into rows.
  bool along_x() const { return along_x_; }

 private:
  SeparableProgram(const SeparableStencil& stencil, Precision precision);
  /// Returns why no kernel takes the operand, or nothing if one does.
  std::optional<NoKernel> refusal() const;
  std::vector<std::uint32_t> both(std::vector<std::uint32_t> ChainedAxis::*part) const;

  Precision precision_;
  bool along_x_;
  SeparableOperand operand_;
  SeparableShape shape_, sourced_;
};

constexpr int row_granule = 16, column_granule = 64;  // in outputs

/// Returns how many blocks of input a strip has so that all strips end at about the same time.
std::int64_t steps_per_strip(std::int64_t rows, std::int64_t block_rows, std::int64_t column_tiles,
                             std::int64_t resident);

}  // namespace spsolve::cuda
