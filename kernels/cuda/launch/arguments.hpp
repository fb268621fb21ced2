// SPDX-License-Identifier: Apache-2.0
#pragma once

// Types that arguments of kernels are made of. Read by the host compiler and by NVRTC: no library types.

#include "kernels/cuda/ptx/tensor_map.hpp"

namespace spsolve::cuda {

/// Axes as kernels see them: planes are marched through, rows are stacked in a plane, x is contiguous. A 3D
/// grid is {z, y, x}, a 2D grid {y, 1, x}, a 1D grid {1, 1, x}.
enum KernelAxis { plane_axis = 0, row_axis = 1, column_axis = 2 };

/// Device memory of a block: point p lies at data + (p - begin) . stride elements for begin <= p < end. In x
/// the range includes the padding of the rows, so that every row begins and ends at a multiple of 16 bytes.
struct View {
  void* data;
  long long begin[3];
  long long end[3];
  long long stride[3];
  int* largest;  // Field::magnitude_bound()
};

struct Region {
  long long begin[3];
  long long end[3];

  constexpr long long extent(int axis) const { return end[axis] - begin[axis]; }
};

/// How blocks share a march, which is cut into slabs of `steps`; a tile of a slab is a piece. Each of the
/// first `whole` pieces is marched from end to end by a block. Of each of the others blocks take `stretches`
/// of `length` steps, then `short_stretches` of `short_length`.
struct MarchShares {
  int steps, tiles, pieces;
  int whole, stretches, length, short_stretches, short_length;

  constexpr int shared() const { return pieces - whole; }
  constexpr int blocks() const { return whole + shared() * (stretches + short_stretches); }
};

/// How blocks share a march of tiles of one row, each of which is cut along the march into `number` stretches
/// as long as each other, but the first and the last, which are by `fewer` planes shorter: of tiles beside
/// walls at the ends of rows (`outer`: 1 if the first tile is one, and if the last is) and of others.
struct MarchStretches {
  int outer[2];
  struct {
    int number, fewer;
  } of_outer, of_others;

  constexpr int outer_tiles() const { return outer[0] + outer[1]; }
  constexpr long long blocks(long long tiles) const {
    return outer_tiles() * of_outer.number + (tiles - outer_tiles()) * of_others.number;
  }
};

}  // namespace spsolve::cuda
