// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kernels/cuda/block_limits.hpp"
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
  bool bulk_stores = false;  // by the copy engine: rows of a warp are 64 bytes or multiples of 128 (sm_90)
  int groups_at_once = 1;    // in pass 1: neighbours share inputs where there are several windows along x
  int steps_per_strip = 0;   // blocks of input of a thread block after the first; 0: by the size of the grid

  int columns() const { return 16 * groups * warps; }
  int threads() const { return 32 * warps * warps_y; }
};

/// What follows from a tile.
struct SeparableShape {
  SeparableTile tile;
  int column_margin;  // first column of the input of a block, from its first output
  int window_column;  // column of the input at which the first window begins
  int row_margin;     // first row of the input, from the first output
  int row_elements;   // of the input in shared memory, halo and padding included
  int block_rows;     // of one stage
  int shared_bytes;
};
SeparableShape separable_shape(const SeparableOperand& operand, const SeparableTile& tile, int storage_bytes);

/// The best tile known that fits; without warps where none does.
SeparableTile choose_separable_tile(const SeparableOperand& operand, int storage_bytes,
                                    const BlockLimits& limits);

constexpr int row_granule = 16;  // of outputs

/// Blocks of input per strip such that all strips end at about the same time.
std::int64_t steps_per_strip(std::int64_t rows, std::int64_t block_rows, std::int64_t column_tiles,
                             std::int64_t resident);

/// constants.cuh for separable.cuh.
std::string separable_constants(const SeparableOperand& operand, Precision storage,
                                const SeparableShape& shape, bool with_source);

}  // namespace spsolve::cuda
