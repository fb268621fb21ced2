// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file holds the types that kernel arguments are made of. Both the host compiler and NVRTC read this
// file: it uses no library types.

#include "kernels/cuda/ptx/tensor_map.hpp"

namespace spsolve::cuda {

/// Numbers the axes as kernels see them. Kernels march through planes, rows are stacked in a plane, columns
/// (x) are contiguous. A 3D grid is {z, y, x}, a 2D grid {y, 1, x}, a 1D grid {1, 1, x}.
enum KernelAxis { plane_axis = 0, row_axis = 1, column_axis = 2 };

/// Describes the device memory of a field on one block of the grid. Point p lies at data + (p - begin) .
/// stride elements for begin <= p < end. In x the range includes the padding of the rows, so that every row
/// begins and ends at a multiple of 16 bytes.
struct View {
  void* data;
  long long begin[3];
  long long end[3];
  long long stride[3];
  int* largest;  // Field::magnitude_bound(): bits of the largest magnitude
};

/// Describes a half-open box of points in kernel axes.
struct Region {
  long long begin[3];
  long long end[3];

  constexpr long long extent(int axis) const { return end[axis] - begin[axis]; }
};

/// Describes the planes that one block of a march takes: [begin, end) of a piece, counted from the first
/// plane of its slab.
struct MarchPart {
  int piece;
  int stretch;  // number of the stretch in its piece; -1: the block takes the whole piece
  int begin, end;
};

/// Divides a march of tiles of several rows among blocks. The march is cut into slabs of `planes` planes; one
/// tile in one slab is a piece.
///
/// Each of the first `whole` pieces is marched from end to end by one block. Every other piece is cut into
/// `stretches` stretches of `length` planes followed by `short_stretches` stretches of `short_length` planes,
/// with one block per stretch. This avoids a last wave that leaves most of the device idle (wave
/// quantisation).
struct MarchShares {
  // planes of a slab; tiles of a plane; pieces in all
  int planes, tiles, pieces;
  int whole, stretches, length, short_stretches, short_length;

  /// Returns the number of pieces that are cut into stretches.
  constexpr int shared() const { return pieces - whole; }
  constexpr int blocks() const { return whole + shared() * (stretches + short_stretches); }
  constexpr int slabs() const { return pieces / tiles; }
  /// Returns the largest number of planes that a block takes.
  constexpr int longest() const { return whole > 0 ? planes : length > short_length ? length : short_length; }
  /// Returns the part of the march that a block takes. The last slab may have fewer planes than the others; a
  /// part ends with its slab.
  constexpr MarchPart part(int block) const {
    MarchPart part{block, -1, 0, planes};
    if (const int other = block - whole; other >= 0) {
      const int beyond = other / shared() - stretches;
      part.piece = whole + other % shared();
      part.stretch = other / shared();
      part.begin = beyond < 0 ? part.stretch * length : stretches * length + beyond * short_length;
      const int end = part.begin + (beyond < 0 ? length : short_length);
      part.end = end < planes ? end : planes;
    }
    return part;
  }
};

/// Divides a march of tiles of one row among blocks. Each tile is cut along the march into `number` stretches
/// of equal length, except that the first and the last are shorter by `fewer` planes.
///
/// Tiles beside walls at the ends of rows take longer and have a division of their own (`of_outer`). `outer`
/// is {1 if the first tile is beside a wall, 1 if the last one is}.
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
