// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file holds the kernel arguments of wgmma_sweep.cuh. Both the host compiler and NVRTC read this file:
// it uses no library types.

#include "kernels/cuda/launch/arguments.hpp"

namespace spsolve::cuda {

constexpr int wgmma_threads = 512;                           // two warpgroups convert, two multiply
constexpr int wgmma_tile_rows = 4, wgmma_tile_columns = 16;  // outputs of an instruction's 64 rows
constexpr int wgmma_group_tiles = 8;                         // side by side
constexpr int wgmma_group_columns = wgmma_group_tiles * wgmma_tile_columns;
// Is the largest number of groups side by side, one for each warp of a converting warpgroup.
constexpr int wgmma_max_groups = 4;

// The functions below describe the input of eight tiles whose windows have `parts` parts
// (kernels/sparse/windowed_operand.hpp).

/// Returns how many columns of a row are fetched: those of the eight tiles, 2 `parts` - 1 times as many as a
/// tile has, because windows reach beyond the tiles, and `more`. Some of them are fetched only to keep the
/// rows that half or a quarter of a warp reads in different banks. `more` is 0 if the window of every tile
/// begins at a multiple of 16 bytes in memory. Otherwise copies begin `lead` columns earlier.
constexpr int wgmma_box_columns(int parts, int more) {
  return wgmma_group_columns + (2 * parts - 1) * wgmma_tile_columns + more;
}
/// Returns the bytes from one 16-byte column of an operand's tiles to the next: an odd multiple of 16, so
/// that a quarter of a warp that writes four columns of two rows has no bank conflicts.
constexpr int wgmma_pitch(int parts) { return 16 * (wgmma_group_tiles + 2 * parts - 1); }
/// Returns the bytes of a row of `columns` columns of 16 bytes, wgmma_pitch() apart. With eight columns, a
/// quarter of a warp writes every other one, hence the padding.
constexpr int wgmma_row_bytes(int columns, int parts) {
  return columns * wgmma_pitch(parts) + (columns == 8 ? 16 : 0);
}

/// Holds the arguments of one launch of wgmma_sweep.cuh.
struct WgmmaArguments {
  TensorMap in_map;  // boxes of four rows of wgmma_box_columns
  View in;
  View out;
  View source;                        // fp32; data is null without a source
  Region region;                      // points to write
  long long first_row, first_column;  // where tile (0, 0) begins: multiples of the tile in global coordinates
  int tiles;                          // along the march, in groups of tiles that are multiplied together
  int tiles_per_block;
  int lead;                  // columns by which copies begin before the window of a tile, for alignment
  float unscale;             // factor of sums that undoes the scaling of fp16 weights
  const void* weights;       // [part or term][step][lane of the warpgroup]; uint4
  const unsigned* metadata;  // [lane of the warpgroup]
};

}  // namespace spsolve::cuda
