// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a launch tells wgmma_sweep.cuh. Read by the host compiler and by NVRTC: no library types.

#include "kernels/cuda/launch/arguments.hpp"

namespace spsolve::cuda {

constexpr int wgmma_threads = 512;                           // two warpgroups convert, two multiply
constexpr int wgmma_tile_rows = 4, wgmma_tile_columns = 16;  // outputs of an instruction's 64 rows
constexpr int wgmma_group_tiles = 8;                         // side by side
constexpr int wgmma_group_columns = wgmma_group_tiles * wgmma_tile_columns;
constexpr int wgmma_most_groups = 4;  // side by side: one for each warp of a warpgroup that converts

// With windows of so many parts (kernels/sparse/windowed_operand.hpp), of input of eight tiles:

/// Columns of a row that are fetched: those of the tiles, as many as a tile's beyond for each part, and some
/// that keep what a half or a quarter of a warp reads of its rows in different banks; and, unless the window
/// of every tile begins at a multiple of 16 bytes in memory, `lead` columns before.
constexpr int wgmma_box_columns(int parts, int more) {
  return wgmma_group_columns + (2 * parts - 1) * wgmma_tile_columns + more;
}
/// Bytes from a 16-byte column of the tiles of an operand to the next: an odd number of times 16, such that a
/// quarter of a warp that writes four columns of two rows meets no bank twice.
constexpr int wgmma_pitch(int parts) { return 16 * (wgmma_group_tiles + 2 * parts - 1); }
/// Bytes of a row of such columns. Of eight columns, that quarter writes every other one.
constexpr int wgmma_row_bytes(int columns, int parts) {
  return columns * wgmma_pitch(parts) + (columns == 8 ? 16 : 0);
}

struct WgmmaArguments {
  TensorMap in_map;  // boxes of four rows of wgmma_box_columns
  View in;
  View out;
  View source;                        // fp32; data is null without a source
  Region region;                      // what is written
  long long first_row, first_column;  // of tile (0, 0): multiples of the tile in global coordinates
  int tiles;                          // along the march, in groups of tiles that are multiplied together
  int tiles_per_block;
  int lead;                  // columns that copies begin before the window of a tile, to be aligned
  float unscale;             // what sums are multiplied by: weights of fp16 are scaled
  const void* weights;       // [part or term][step][lane of the warpgroup]; uint4
  const unsigned* metadata;  // [lane of the warpgroup]
};

}  // namespace spsolve::cuda
