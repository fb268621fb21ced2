// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a launch tells wgmma_sweep.cuh. Read by the host compiler and by NVRTC: no library types.

#include "arguments.hpp"

namespace spsolve::cuda {

constexpr int wgmma_threads = 512;                           // two warpgroups convert, two multiply
constexpr int wgmma_tile_rows = 4, wgmma_tile_columns = 16;  // outputs of an instruction's 64 rows
constexpr int wgmma_group_columns = 8 * wgmma_tile_columns;  // of eight tiles, side by side
/// Of a row that eight tiles read: their columns, as many as a tile's beyond, and up to three before, to be
/// aligned.
constexpr int wgmma_box_columns = 160;
/// Bytes between the 16-byte columns of eight tiles of an operand, such that a quarter of a warp that writes
/// four columns of two tiles meets no bank twice; and of one row of input of eight tiles.
constexpr int tf32_pitch = 144, tf32_row_bytes = 8 * tf32_pitch;
constexpr int bf16_pitch = 160, bf16_row_bytes = 4 * bf16_pitch;

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
  const uint4* weights;      // [operand][step][lane of the warpgroup]
  const unsigned* metadata;  // [tf32, bf16][lane of the warpgroup]
};

}  // namespace spsolve::cuda
