// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "kernels/precision.hpp"
#include "kernels/sparse/operand.hpp"
#include "kernels/sparse/split.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// The rows of input that a tile of 4 x 16 outputs of a 2D stencil takes, 32 columns for each 16 columns of
/// taps: one step (16-bit elements) or two (tf32) of wgmma.sp.
struct InputWindow {
  static constexpr int tile_rows = 4, tile_columns = 16, columns = 32;

  int rows = 0;
  std::int64_t first_row = 0, first_column = 0;  // from the tile's origin
  int parts = 1;                                 // of 16 columns of taps, side by side

  /// Steps of a part.
  int steps(Precision precision) const { return rows * (storage_bytes(precision) == 2 ? 1 : 2); }
};

/// None in fp64, for stencils with offsets along z, and for those whose weights the registers of two
/// warpgroups do not hold: one has those of a part, 36 steps at most; in fp32 each has two terms of all. That
/// is 15 x 16 points in fp32, 15 x 32 in tf32, 33 x 32 in 16 bits. Where it can be, the window begins at a
/// multiple of 8 or 4 columns, so that copies are aligned.
std::optional<InputWindow> input_window(const Stencil& stencil, Precision precision);

/// Strided swap of columns 16 apart (tf32), or of pairs of them (16 bits, and terms of fp32): rows of A are
/// the 64 outputs, its columns those of the window, row by row. Which of two swapped columns an output takes
/// depends on its own column only, and zeros stay where they are, so all rows of all parts have the same
/// metadata. Outputs m and m + 8 are neighbours along x, since a lane gets both. Of a window of several
/// parts: the taps of one.
Operand windowed_operand(const Stencil& stencil, const InputWindow& window, Precision element, int part = 0);

/// Weights in fp32 as two terms of fp16 that sum to scale * weights, over the box of dense_weights(). The
/// first are multiples of 2^-13 of the largest sum of magnitudes of a row: their products with first terms of
/// data, of 11 bits, sum to a row without loss, or nearly so where data differ (leading_grid()). The second
/// are rounded such that the sum of all weights is kept.
struct PairedWeights {
  std::vector<double> first, second;
  double scale;  // a power of two
};
PairedWeights paired_weights(const Stencil& stencil);
/// By what second terms of fp16, of data and of weights, are multiplied: those of numbers 2^-26 as large as
/// the largest are no subnormal numbers then.
constexpr double pair_term_scale = 1024;
/// windowed_operand() of a window of one part with either term.
SplitOperand windowed_pair(const Stencil& stencil, const InputWindow& window);

/// Whether sweeps of a stencil in a 2D grid take this way on devices that have it: all that have a window.
bool takes_window(const Stencil& stencil, Precision precision);

}  // namespace spsolve
