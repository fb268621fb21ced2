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
/// Is true if the warp that computes a tile also loads its planes and computes their ghost points, so that no
/// other warp is needed.
constexpr bool loads_itself = constants::loads_itself;
#if __CUDA_ARCH__ >= 900
constexpr int ghost_threads = (loads_itself ? 1 : constants::ghost_warps) * warp_threads;
#else
constexpr int ghost_threads = constants::threads;
#endif

/// Sets how often loops over ghost points are unrolled. If the computing warp runs these loops, its loop over
/// planes must stay short, for the instruction cache.
constexpr int unrolled_ghosts = loads_itself ? 1 : 4;

/// Describes the tile of a block by its first point.
struct Tile {
  int plane, row, column;
};

/// Returns the number in a ring of the plane that arrives in iteration n.
template <int i>
__device__ inline int slot_of(int n) {
  return static_cast<int>(static_cast<unsigned>(n) % static_cast<unsigned>(constants::ring_depth[i]));
}
template <int i>
__device__ inline InputElement<i>* plane_in_ring(int slot) {
  return reinterpret_cast<InputElement<i>*>(memory + constants::ring_offset[i] +
                                            slot * constants::plane_bytes[i]);
}

/// Moves `plane` to the plane of input `i` that is copied in its place. Returns false and sets `ghost` if the
/// plane lies beyond a face and is filled with the value of the face instead.
template <int i>
__device__ inline bool is_copied(int& plane, const GroupArguments& a, Compute& ghost) {
  if constexpr (constants::copies_zeros[i][0]) return true;
  return find_source<i, 0>(plane, static_cast<int>(a.shape[0]), ghost);
}

/// Fills a plane with the value of a face across the march, by threads first, first + step, ...
template <int i>
__device__ inline void fill_plane(int slot, Compute value, int first, int step) {
  InputElement<i>* const to = plane_in_ring<i>(slot);
#pragma unroll 1
  for (int j = first; j < constants::ring_rows[i] * constants::ring_pitch[i]; j += step) store(to[j], value);
}

/// Sets one ghost point of a plane, beyond the low or the high face of an axis, to the value of the face or
/// of the point that it mirrors. `line` and `index` locate the ghost point in the ring.
template <int i, int axis>
__device__ inline void make_ghost(const GroupArguments& a, const Tile& tile, InputElement<i>* plane,
                                  bool is_high, int line, int index) {
  constexpr int pitch = constants::ring_pitch[i];
  constexpr Beyond beyond_low = constants::beyond[i][axis][0], beyond_high = constants::beyond[i][axis][1];
  if constexpr (beyond_low == Beyond::value && beyond_high == Beyond::value) {
    constexpr Compute low = constants::ghost[i][axis][0], high = constants::ghost[i][axis][1];
    store(plane[line * pitch + index], is_high ? high : low);
    return;
  }
  const int first_row = tile.row + constants::row_low[i], first_column = tile.column - a.array[i].lead;
  int row = first_row + line, column = first_column + index;
  InputElement<i>& to = plane[line * pitch + index];
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

/// Input `i` is read this far along rows (axis 1) or columns (axis 2).
template <int i, int axis>
constexpr int ring_reach = axis == 1 ? constants::row_reach[i] : constants::column_reach[i];
/// Returns true if threads have to compute ghost points beyond the faces of an axis in the ring of input `i`.
/// Beyond faces with the value 0, copies fill them.
template <int i, int axis>
constexpr bool makes_ghosts() {
  return constants::beyond[i][axis][0] != Beyond::memory && !constants::copies_zeros[i][axis] &&
         ring_reach<i, axis> > 0;
}
/// Returns true if a tile of `extent` points from `first` on has ghost points that threads have to compute.
template <int i, int axis>
__device__ inline bool reaches_beyond(const GroupArguments& a, int first, int extent) {
  constexpr int reach = ring_reach<i, axis>;
  return makes_ghosts<i, axis>() && (first < reach || first + extent + reach > a.shape[axis]);
}
template <int i>
__device__ inline bool has_ghost_points(const GroupArguments& a, const Tile& tile) {
  return reaches_beyond<i, 1>(a, tile.row, tile_rows) ||
         reaches_beyond<i, 2>(a, tile.column, constants::tile_columns);
}

/// Computes the ghost points of a plane beyond the faces of an axis, as far as the input is read. Along the
/// axis the ring has `extent` points, of which the first lies at `first` on the grid, and `across` along the
/// other. Calls make(is_high, along, other) for points in the ring.
template <int i, int axis, int extent, int across, class Make>
__device__ inline void for_each_ghost(const GroupArguments& a, int first, int thread, const Make& make) {
  if constexpr (makes_ghosts<i, axis>()) {
    constexpr int reach = ring_reach<i, axis>;
    constexpr int of_face = reach * across;
    const int low = -1 - first, high = static_cast<int>(a.shape[axis]) - first;  // beside the faces
    const auto make_number = [&](int j) {
      const bool is_high = j >= of_face;
      const int number = is_high ? j - of_face : j;
      const int layer = axis == 1 ? number / across : number % reach,
                other = axis == 1 ? number % across : number / reach,
                along = is_high ? high + layer : low - layer;
      if (along >= 0 && along < extent) make(is_high, along, other);
    };
    if constexpr (2 * of_face <= ghost_threads) {
      if (thread < 2 * of_face) make_number(thread);
    } else {
      const int end = high < extent ? 2 * of_face : of_face;
#pragma unroll unrolled_ghosts
      for (int j = (low >= 0 ? 0 : of_face) + thread; j < end; j += ghost_threads) make_number(j);
    }
  }
}

/// Computes the ghost rows and columns of a plane of input `i` in its ring, together with the other threads
/// for ghost points. Beyond two faces, the face of axis 1 decides (rows above or below the grid).
template <int i>
__device__ inline void make_ghosts(const GroupArguments& a, const Tile& tile, int plane, int slot,
                                   int thread) {
  constexpr int lines = constants::ring_rows[i], pitch = constants::ring_pitch[i];
  Compute ghost;
  if (!is_copied<i>(plane, a, ghost)) return;  // filled
  // A plane beyond a face across the march has the value of the face, here 0, also in its ghost rows and
  // columns.
  if (constants::copies_zeros[i][0] && static_cast<unsigned>(plane) >= static_cast<unsigned>(a.shape[0]))
    return;
  InputElement<i>* const to = plane_in_ring<i>(slot);
  const int first_row = tile.row + constants::row_low[i], rows = static_cast<int>(a.shape[1]);
  for_each_ghost<i, 2, pitch, lines>(
      a, tile.column - a.array[i].lead, thread, [&](bool is_high, int index, int line) {
        const int row = first_row + line;
        if (constants::beyond[i][1][0] != Beyond::memory && (row < 0 || row >= rows)) return;
        make_ghost<i, 2>(a, tile, to, is_high, line, index);
      });
  for_each_ghost<i, 1, lines, pitch>(a, first_row, thread, [&](bool is_high, int line, int index) {
    make_ghost<i, 1>(a, tile, to, is_high, line, index);
  });
}

}  // namespace
}  // namespace spsolve::cuda
