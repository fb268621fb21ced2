// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cuda/device.hpp"
#include "kernels/precision.hpp"
#include "kernels/sparse/operand.hpp"
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
  /// precisions than tf32 and fp32, offsets along y that span more than 15 rows, along x more than 16 columns
  /// from a multiple of 4, and devices without wgmma.
  WgmmaProgram(const Stencil& stencil, Precision precision, const BlockLimits& limits, WgmmaTile tile = {});

  /// constants.cuh; `aligned`: column 0 of the grid lies at a multiple of 16 bytes of the rows of memory.
  std::string constants(bool aligned, bool with_source) const;
  /// [operand][step][lane of the warpgroup][4]: tf32, and of fp32 the corrections, two of each row.
  std::vector<std::uint32_t> weights() const;
  /// [tf32, bf16][lane of the warpgroup].
  std::vector<std::uint32_t> metadata() const;

  /// The weights as A, unsplit: rows are 4 x 16 outputs, columns those of the window, row by row, pairs
  /// (tf32) or pairs of two (bf16) of columns 16 apart side by side. Which of a pair a row takes depends on
  /// its column only, so all rows of the window have the same metadata.
  Operand operand(Precision element) const;

  const WgmmaTile& tile() const { return tile_; }
  /// Rows of input that a tile reads; the first of them, and the first column, from its origin.
  int window_rows() const { return window_rows_; }
  std::int64_t window_row() const { return window_row_; }
  std::int64_t window_column() const { return window_column_; }
  /// Columns of the boxes that bring a row, and how many of them.
  int box_columns() const { return box_columns_; }
  int copies() const { return copies_; }
  int shared_bytes() const { return shared_bytes(tile_); }

 private:
  bool split() const { return precision_ == Precision::fp32; }
  int shared_bytes(const WgmmaTile& tile) const;

  Precision precision_;
  Stencil stencil_;  // weights as operands hold them
  WgmmaTile tile_;
  int window_rows_ = 0, box_columns_ = 0, copies_ = 1;
  std::int64_t window_row_ = 0, window_column_ = 0;
};

}  // namespace spsolve::cuda
