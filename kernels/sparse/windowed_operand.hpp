// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "kernels/precision.hpp"
#include "kernels/sparse/operand.hpp"
#include "kernels/sparse/split.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// Describes the input rows of a tile of 4 x 16 outputs of a 2D stencil. Each part has 16 columns of taps and
/// takes 32 columns of input: one step (16-bit elements) or two (tf32) of wgmma.sp per row.
struct InputWindow {
  static constexpr int tile_rows = 4, tile_columns = 16, columns = 32;

  int rows = 0;
  std::int64_t first_row = 0, first_column = 0;  // relative to the tile's origin
  int parts = 1;                                 // parts of 16 columns of taps, side by side

  /// Returns the steps of a part.
  int steps(Precision precision) const { return rows * (storage_bytes(precision) == 2 ? 1 : 2); }
};

/// Returns the window, or nothing for fp64, for stencils with offsets along z, and for those whose weights do
/// not fit the registers of two warpgroups. Each warpgroup has the weights of one part, at most 36 steps; in
/// fp32 each has one of two terms of all weights. The limits are 15 x 16 points in fp32, 15 x 32 in tf32 and
/// 33 x 32 in 16 bits. If possible, the window begins at a multiple of 8 or 4 columns, so that copies are
/// aligned.
std::optional<InputWindow> input_window(const Stencil& stencil, Precision precision);

/// Applies strided swap to columns 16 apart (tf32), or to pairs of columns (16 bits, and terms of fp32). Rows
/// of A are the 64 outputs; its columns are those of the window, row by row. Which of two swapped columns an
/// output takes depends only on its own column, and zeros are kept in place, so all rows of all parts have
/// the same metadata. Outputs m and m + 8 are neighbours along x, because a lane gets both. `part` selects
/// the taps of one part.
Operand windowed_operand(const Stencil& stencil, const InputWindow& window, Precision element, int part = 0);

/// Holds weights in fp32 as two terms of fp16 that sum to scale * weights, over the box of dense_weights().
/// First terms are multiples of 2^-13 of the largest sum of magnitudes of a row. Their products with first
/// terms of data, of 11 bits, sum over a row without loss, or nearly so where data differ (leading_grid()).
/// Second terms are rounded such that the sum of all weights is kept.
struct PairedWeights {
  std::vector<double> first, second;
  double scale;  // a power of two
};
PairedWeights paired_weights(const Stencil& stencil);
/// Is the factor that second terms of fp16, of data and of weights, are multiplied by. With it, second terms
/// of numbers down to 2^-26 of the largest are not subnormal.
constexpr double pair_term_scale = 1024;
/// Makes the windowed_operand() of each term, for a window of one part.
SplitOperand windowed_pair(const Stencil& stencil, const InputWindow& window);

/// Returns true if sweeps of this stencil in a 2D grid use a window on devices that support it: all stencils
/// that have one do.
bool supports_window(const Stencil& stencil, Precision precision);

}  // namespace spsolve
