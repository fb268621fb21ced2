// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file holds the rings of planes in shared memory that a march of a group of statements reads, and makes
// the ghost points in them. Include it after constants.cuh.

#include "kernels/cuda/system/group_values.cuh"

extern __shared__ __align__(128) unsigned char memory[];

namespace spsolve::cuda {
namespace {

constexpr int rows_of_thread = constants::rows_of_thread;
constexpr int tile_rows = constants::thread_rows * rows_of_thread;
constexpr int warp_threads = 32;  // along a row
/// Says whether the warp that computes a tile also loads its planes and makes their ghost points. No other
/// warp waits for it then.
constexpr bool loads_itself = constants::loads_itself;
#if __CUDA_ARCH__ >= 900
constexpr int ghost_threads = (loads_itself ? 1 : constants::ghost_warps) * warp_threads;
#else
constexpr int ghost_threads = constants::threads;
#endif

/// Says how often loops over ghost points are unrolled. Where the warp that computes makes them, its loop
/// over planes must stay short, for the instruction cache.
constexpr int unrolled_ghosts = loads_itself ? 1 : 4;

/// Is the tile of a block, given by its first point.
struct Tile {
  int plane, row, column;
};

/// Returns the number in a ring of the plane that arrives in iteration n.
template <int i>
__device__ inline int slot_of(int n) {
  return static_cast<int>(static_cast<unsigned>(n) % static_cast<unsigned>(constants::ring_depth[i]));
}
template <int i>
__device__ inline Element<i>* plane_in_ring(int slot) {
  return reinterpret_cast<Element<i>*>(memory + constants::ring_offset[i] + slot * constants::plane_bytes[i]);
}

/// Fills a plane with the value of a face across the march, by threads first, first + step, ...
template <int i>
__device__ inline void fill_plane(int slot, Compute value, int first, int step) {
  Element<i>* const to = plane_in_ring<i>(slot);
#pragma unroll 1
  for (int j = first; j < constants::ring_rows[i] * constants::ring_pitch[i]; j += step) store(to[j], value);
}

/// Makes one ghost point of a plane: `line` and `index` say where it lies in the ring. Beyond faces of rows
/// and columns those of rows decide.
template <int i>
__device__ inline void make_ghost(const GroupArguments& a, const Tile& tile, Element<i>* plane, int line,
                                  int index) {
  constexpr int pitch = constants::ring_pitch[i];
  const int first_row = tile.row + constants::row_low[i], first_column = tile.column - a.array[i].lead;
  int row = first_row + line, column = first_column + index;
  Element<i>& to = plane[line * pitch + index];
  Compute ghost;
  if (!find_source<i, 1>(row, static_cast<int>(a.shape[1]), ghost) ||
      !find_source<i, 2>(column, static_cast<int>(a.shape[2]), ghost)) {
    store(to, ghost);
    return;
  }
  const int from_line = row - first_row, from_index = column - first_column;
  // Ghost points that no point of the tile reads may reflect points outside of it.
  if (from_line >= 0 && from_line < constants::ring_rows[i] && from_index >= 0 && from_index < pitch)
    to = plane[from_line * pitch + from_index];
}

/// Returns true if ghost points beyond the faces of an axis have to be made in the ring of input `i`: the
/// tile is `extent` points long from `first` on. Copies fill those beyond faces with the value 0.
template <int i>
__device__ inline bool reaches_beyond(const GroupArguments& a, int axis, int reach, int first, int extent) {
  return constants::beyond[i][axis][0] != Beyond::memory && !constants::copies_zeros[i][axis] && reach > 0 &&
         (first < reach || first + extent + reach > a.shape[axis]);
}
template <int i>
__device__ inline bool has_ghost_rows(const GroupArguments& a, const Tile& tile) {
  return reaches_beyond<i>(a, 1, constants::row_reach[i], tile.row, tile_rows);
}
template <int i>
__device__ inline bool has_ghost_columns(const GroupArguments& a, const Tile& tile) {
  return reaches_beyond<i>(a, 2, constants::column_reach[i], tile.column, constants::tile_columns);
}

/// Makes the ghost rows and columns of a plane of input `i` that lie in its ring, together with the other
/// threads that make ghosts.
template <int i>
__device__ inline void make_ghosts(const GroupArguments& a, const Tile& tile, int plane, int slot,
                                   int thread) {
  constexpr int reach_rows = constants::row_reach[i], reach_columns = constants::column_reach[i];
  constexpr int lines = constants::ring_rows[i], pitch = constants::ring_pitch[i];
  Compute ghost;
  if (!find_source<i, 0>(plane, static_cast<int>(a.shape[0]), ghost)) return;  // filled
  Element<i>* const to = plane_in_ring<i>(slot);
  // Ghosts along an axis lie before the grid or behind it.
  if constexpr (reach_columns > 0)
    if (has_ghost_columns<i>(a, tile)) {
      const int lead = a.array[i].lead, columns = static_cast<int>(a.shape[2]) - tile.column + lead;
      const auto make = [&](int line, int number) {
        const int index =
            number < reach_columns ? lead - tile.column - 1 - number : columns + number - reach_columns;
        if (index >= 0 && index < pitch) make_ghost<i>(a, tile, to, line, index);
      };
      if constexpr (lines == 1 && 2 * reach_columns <= ghost_threads) {
        if (thread < 2 * reach_columns) make(0, thread);
      } else {
#pragma unroll unrolled_ghosts
        for (int j = thread; j < 2 * reach_columns * lines; j += ghost_threads)
          make(j / (2 * reach_columns), j % (2 * reach_columns));
      }
    }
  if constexpr (reach_rows > 0)
    if (has_ghost_rows<i>(a, tile)) {
      const int rows = static_cast<int>(a.shape[1]) - tile.row - constants::row_low[i];
#pragma unroll unrolled_ghosts
      for (int j = thread; j < 2 * reach_rows * pitch; j += ghost_threads) {
        const int number = j / pitch;
        const int line =
            number < reach_rows ? -tile.row - constants::row_low[i] - 1 - number : rows + number - reach_rows;
        if (line >= 0 && line < lines) make_ghost<i>(a, tile, to, line, j % pitch);
      }
    }
}

}  // namespace
}  // namespace spsolve::cuda
