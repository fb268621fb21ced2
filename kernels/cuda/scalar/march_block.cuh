// SPDX-License-Identifier: Apache-2.0
#pragma once

// Maps a block of march.cuh to its tile and its planes.

#include "kernels/cuda/scalar/march_tile.cuh"

namespace spsolve::cuda {

/// Describes the tile and the planes of this thread block.
struct MarchBlock {
  const ScalarArguments& a;
  long long first_row, first_column;  // the first row and column of the tile, halo included
  long long begin, end;               // planes that the block writes
  long long begin_row, end_row;       // rows that the block writes

  __device__ explicit MarchBlock(const ScalarArguments& arguments) : a(arguments) {
    if constexpr (RY > 0)
      place_by_shares();
    else
      place_by_stretches();
  }

  /// Returns whether the tile, halo included, reaches a wall at the ends of rows or columns.
  __device__ bool beside_wall() const {
    return reaches_wall(row_axis, first_row, first_row + tile_rows) ||
           reaches_wall(column_axis, first_column, first_column + tile_columns);
  }
  /// Returns whether the block's planes reach a face across the march. Few tiles of one row do; tiles of
  /// several rows all run the code for it.
  __device__ bool near_planes() const {
    return !ends_apart || reaches_wall(plane_axis, begin - depth * R, end + depth * R);
  }

 private:
  __device__ void place_tile(int column, int row) {
    first_column = a.first_column + column * static_cast<long long>(tile_columns - 2 * column_margin);
    if (wraps(column_axis) && column == 0) first_column = -tile_columns / 2;
    const RowTiles rows{a.region.begin[1], a.region.end[1], a.shape[1],
                        tile_rows,         depth * RY,      walls[row_axis][0] != Wall::none};
    first_row = rows.first_row(row);
    begin_row = rows.begin_row(row);
    end_row = rows.end_row(row);
  }

  /// Places a block whose tile has several rows; the grid of blocks is one-dimensional.
  __device__ void place_by_shares() {
    const MarchShares& s = a.shares;
    const MarchPart part = s.part(static_cast<int>(blockIdx.x));
    const int piece = part.piece;
    // Tiles beside walls at the ends of rows take longer. Such tiles of all slabs come first, so that
    // neighbours march abreast and find each other's halos in the cache.
    const int outer = walls[column_axis][0] != Wall::none && a.column_tiles > 2 ? 2 : 0;
    const int rows = s.tiles / a.column_tiles, outer_pieces = s.pieces / a.column_tiles * outer;
    const bool is_outer = piece < outer_pieces;
    const int columns = is_outer ? outer : a.column_tiles - outer, tiles = columns * rows,
              rank = is_outer ? piece : piece - outer_pieces, slab = rank / tiles, column = rank % columns;
    place_tile(is_outer ? column * (a.column_tiles - 1) : column + outer / 2, rank % tiles / columns);
    const long long first = a.region.begin[0] + static_cast<long long>(slab) * s.planes;
    begin = first + part.begin;
    end = min(first + part.end, a.region.end[0]);
  }

  /// Places a block whose tile has one row. The blocks of a stretch are side by side; those of outer tiles,
  /// which take longest, come first.
  __device__ void place_by_stretches() {
    const MarchStretches& s = a.stretches;
    const int block = static_cast<int>(blockIdx.x), other = block - s.outer_tiles() * s.of_outer.number;
    const bool is_outer = other < 0;
    const auto [number, fewer] = is_outer ? s.of_outer : s.of_others;
    const int tiles = is_outer ? s.outer_tiles() : a.column_tiles - s.outer_tiles(),
              rank = is_outer ? block : other, stretch = number > 1 ? rank / tiles : 0,
              nth = rank - stretch * tiles;
    const int outer_tile = nth < s.outer[0] ? 0 : a.column_tiles - 1;
    place_tile(is_outer ? outer_tile : s.outer[0] + nth, static_cast<int>(blockIdx.y));
    begin = a.region.begin[0];
    end = a.region.end[0];
    // In 1D the march is not cut: the divisions would be a tenth of the instructions.
    if (number > 1) {
      begin = begin_of_stretch(stretch, number, fewer);
      end = begin_of_stretch(stretch + 1, number, fewer);
    }
  }

  /// Returns where a stretch begins: the march is cut evenly as if it were `fewer` planes longer at both
  /// ends.
  __device__ long long begin_of_stretch(int stretch, int number, int fewer) const {
    const long long planes = a.region.end[0] - a.region.begin[0],
                    evenly = stretch * (planes + 2 * fewer) / number - fewer;
    return a.region.begin[0] + min(max(evenly, 0ll), planes);
  }

  __device__ bool reaches_wall(int axis, long long first, long long last) const {
    return walls[axis][0] != Wall::none && (first <= 0 || last >= a.shape[axis]);
  }
};

}  // namespace spsolve::cuda
