// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "kernels/precision.hpp"
#include "kernels/sparse/operand.hpp"
#include "kernels/sparse/split.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// The rows of input, 32 columns each, that a tile of 4 x 16 outputs of a 2D stencil takes: one step (bf16)
/// or two (tf32) of wgmma.sp per row.
struct InputWindow {
  static constexpr int tile_rows = 4, tile_columns = 16, columns = 32;
  static constexpr int most_rows = 18;  // whose weights registers hold

  int rows = 0;
  std::int64_t first_row = 0, first_column = 0;  // from the tile's origin; the column is a multiple of 4
};

/// None for stencils with offsets along z, or that span more than 15 rows, or more than 16 columns from a
/// multiple of 4.
std::optional<InputWindow> input_window(const Stencil& stencil);

/// Strided swap of columns 16 apart (tf32), or of pairs of them (bf16): rows of A are the 64 outputs, its
/// columns those of the window, row by row. Which of two swapped columns an output takes depends on its own
/// column only, and zeros stay where they are, so all rows of the window have the same metadata. Outputs m
/// and m + 8 are neighbours along x, since a lane gets both.
Operand windowed_operand(const Stencil& stencil, const InputWindow& window, Precision element);

/// Whether sweeps of a stencil in a 2D grid take this way on devices that have it: tf32, and fp32 where
/// takes_mixed_split.
bool takes_window(const Stencil& stencil, Precision precision);

}  // namespace spsolve
