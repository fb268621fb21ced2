// SPDX-License-Identifier: Apache-2.0
#pragma once

// The arguments of kernels of the scalar unit. Read by the host compiler and by NVRTC: no library types.

#include "kernels/cuda/launch/arguments.hpp"

namespace spsolve::cuda {

// Of steps.cuh: threads of a block, and the neighbouring planes of a column that each takes, whose sums read
// so many points each.
constexpr int step_threads = 512;
constexpr int planes_of_thread(int points) { return points <= 16 ? 8 : points <= 64 ? 4 : 1; }

/// Of a march: whether its warm-up is taken in loops of fewer levels. In 3D, stars and fp64 have no registers
/// for these: they would spill (box3d1r on H200, GStencil/s: fp64 478, in one loop 509; fp32 1,032 and
/// 955).
constexpr bool warms_up_apart(bool tiles_of_rows, bool is_star, int compute_bytes) {
  return !tiles_of_rows || (!is_star && compute_bytes < 8);
}
/// The loops, in each of which about as many levels begin.
constexpr int warm_up_phases(int depth) { return depth < 4 ? depth : 4; }

/// What lies beyond a face; `none` for periodic axes, whose halo is memory like any other.
enum class Wall { none, dirichlet, neumann };

/// A non-zero weight and its offset in kernel axes.
struct Tap {
  int offset[3];
  double weight;
};

/// How the rows [begin, end) of a march are cut into tiles that hold so many, `margin` of them halo on either
/// side. Beside walls, which need no halo, tiles begin and end with the grid: so walls lie between warps
/// where the grid has as many rows as a tile.
struct RowTiles {
  long long begin, end, rows;  // of the region; of the grid
  long long held, margin;
  bool walls;

  /// The first row that a tile holds.
  constexpr long long first_row(long long tile) const {
    const long long first = first_held(tile), last = rows > held ? rows - held : 0;
    return walls && first > last ? last : first;
  }
  /// The rows that it writes.
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
  /// Of a tile, as if the grid went on, and of all.
  constexpr long long first_held(long long tile) const {
    return (walls && begin < margin ? 0 : begin - margin) + tile * step();
  }
  constexpr long long end_held() const { return walls && end + margin > rows ? rows : end + margin; }
};

/// One launch: out = in advanced by the steps of the kernel on the regions.
struct Arguments {
  // march on sm_90; the second of each of the tile across the ends of rows (plane_ring.cuh)
  TensorMap in_map[2], source_map[2];
  View in;
  View out;
  View source;             // compute precision; data is null without a source
  long long shape[3];      // of the global grid
  int row_period;          // march: of rows that repeat beyond the grid; 0: `in` holds what is there
  double ghost[3][2];      // value of the ghost points beyond dirichlet faces [axis][side], as operands
  float ghost_fp32[3][2];  // the same where that is the compute precision: a conversion per use would cost
  Region region;           // what is written
  // march: leftmost column of tile 0, where memory is aligned to 16 bytes; where rows repeat, that of tile 1
  // less the columns that a tile writes. box_step, star_step: that of the first tile, aligned as well
  long long first_column;
  int steps;                      // of steps.cuh
  int tile_planes, tile_columns;  // steps, and planes of star_step: what a block writes
  int column_tiles;               // march: across the region
  MarchShares shares;             // march of tiles of rows, whose blocks are in one line
  MarchStretches stretches;       // march of tiles of one row
};

}  // namespace spsolve::cuda
