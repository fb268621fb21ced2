// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file holds the kernel arguments of the scalar unit. Both the host compiler and NVRTC read this file:
// it uses no library types.

#include "kernels/cuda/launch/arguments.hpp"

namespace spsolve::cuda {

// These are constants of steps.cuh: threads of a block, and the number of neighbouring planes of a column
// that each thread computes if a sum reads `points` points.
constexpr int small_grid_threads = 512;
constexpr int planes_of_thread(int points) { return points <= 16 ? 8 : points <= 64 ? 4 : 1; }

/// Returns true if the warm-up of a march has loops of its own, which run fewer levels. In 3D, stars and fp64
/// kernels have no registers for these loops and would spill (box3d1r on H200 in GStencil/s, with separate
/// loops and in one loop: fp64 478 and 509, fp32 1,032 and 955).
constexpr bool warms_up_apart(bool tiles_of_rows, bool is_star, int compute_bytes) {
  return !tiles_of_rows || (!is_star && compute_bytes < 8);
}
/// Returns the number of warm-up loops; about the same number of levels starts in each.
constexpr int warm_up_phases(int depth) { return depth < 4 ? depth : 4; }

/// Names the kind of a face. `none` marks periodic axes, whose halo is memory like any other.
enum class Wall { none, dirichlet, neumann };

/// Holds a non-zero weight and its offset in kernel axes.
struct KernelTap {
  int offset[3];
  double weight;
};

/// Divides the rows [begin, end) of a march into tiles of `held` rows, of which `margin` on either side are
/// halo. Beside walls no halo is needed, so tiles begin and end with the grid there. Walls then lie between
/// two warps if the grid has as many rows as a tile.
struct RowTiles {
  long long begin, end, rows;  // rows of the region; rows of the grid
  long long held, margin;
  bool walls;

  /// Returns the first row that a tile holds.
  constexpr long long first_row(long long tile) const {
    const long long first = first_held(tile), last = rows > held ? rows - held : 0;
    return walls && first > last ? last : first;
  }
  /// Return the ends of the rows [begin_row, end_row) that a tile writes.
  constexpr long long begin_row(long long tile) const {
    return tile == 0 ? begin : first_held(tile) + margin;
  }
  constexpr long long end_row(long long tile) const {
    return first_held(tile) + held >= end_held() ? end : first_held(tile) + held - margin;
  }
  constexpr long long count() const {
    const long long left = end_held() - first_held(0) - held;
    return left > 0 ? 1 + (left + step() - 1) / step() : 1;
  }

 private:
  constexpr long long step() const { return held - 2 * margin; }
  /// Return the first row of a tile if the grid had no end, and the end of the last tile.
  constexpr long long first_held(long long tile) const {
    return (walls && begin < margin ? 0 : begin - margin) + tile * step();
  }
  constexpr long long end_held() const { return walls && end + margin > rows ? rows : end + margin; }
};

/// Holds the arguments of one launch: on the region, out = in advanced by the steps of the kernel.
struct ScalarArguments {
  // march on sm_90: tensor maps of input and source; the second map is for the tile across the ends of rows
  // (plane_pipeline.cuh)
  TensorMap in_map[2], source_map[2];
  View in;
  View out;
  View source;  // in compute precision; data is null without a source
  // `to_previous` is for two time levels: it is the distance, in elements, from `out` to the memory for the
  // values one step before. The geometry is that of `out`.
  long long to_previous;
  long long shape[3];      // the shape of the global grid
  int row_period;          // march: period of rows that repeat; 0: memory holds the points beyond the grid
  double ghost[3][2];      // value of the ghost points beyond dirichlet faces, [axis][side], as operands
  float ghost_fp32[3][2];  // the same values for fp32 kernels, which would convert them at every use
  Region region;           // points to write
  // `first_column` is the first column of the tiles. march: leftmost column of tile 0, halo included, where
  // memory is aligned to 16 bytes; if rows repeat, that of tile 1 less the columns that a tile writes.
  // box_step, star_step: first column that the first tile writes, aligned as well.
  long long first_column;
  int steps;                      // steps.cuh: time steps
  int tile_planes, tile_columns;  // steps.cuh, and planes of star_step.cuh: extent that a block writes
  int column_tiles;               // march: tiles along x
  MarchShares shares;             // march of tiles of several rows; the grid of blocks is one-dimensional
  MarchStretches stretches;       // march of tiles of one row
};

}  // namespace spsolve::cuda
