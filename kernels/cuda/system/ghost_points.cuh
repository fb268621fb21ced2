// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file makes the ghost points along rows and columns in the planes that a march of a group of statements
// has loaded. Include it after constants.cuh.
//
// A plane has its ghost points at the same places as the one before. On sm_90, where warps do nothing else,
// each thread finds its ghost points once and holds them in registers, if they are few. Threads that look for
// them in every plane make blocks beside walls late, and all others wait for these.

#include "kernels/cuda/system/rings.cuh"

namespace spsolve::cuda {
namespace {

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

/// Is a ghost point as a word. Its lower half is the place of the point in a plane, in elements. Its upper
/// half is the place of the point that it mirrors, or of_face + 2 * (axis - 1) + side for the value of a
/// face.
constexpr unsigned no_ghost = ~0u, of_face = 0xfff0;

/// Returns the ghost point at `line` and `index` in the ring of an input. Beyond faces of rows and columns
/// those of rows decide.
template <int i>
__device__ inline unsigned ghost_at(const GroupArguments& a, const Tile& tile, int line, int index) {
  constexpr int pitch = constants::ring_pitch[i], lines = constants::ring_rows[i];
  static_assert(lines * pitch < static_cast<int>(of_face));
  const int first_row = tile.row + constants::row_low[i], first_column = tile.column - a.array[i].lead;
  int row = first_row + line, column = first_column + index;
  const unsigned to = static_cast<unsigned>(line * pitch + index);
  const unsigned row_side = row >= 0, column_side = column >= 0;
  Compute ghost;
  if (!find_source<i, 1>(row, static_cast<int>(a.shape[1]), ghost)) return (of_face + row_side) << 16 | to;
  if (!find_source<i, 2>(column, static_cast<int>(a.shape[2]), ghost))
    return (of_face + 2 + column_side) << 16 | to;
  const int from_line = row - first_row, from_index = column - first_column;
  // Ghost points that no point of the tile reads may reflect points outside of it.
  if (from_line < 0 || from_line >= lines || from_index < 0 || from_index >= pitch) return no_ghost;
  return static_cast<unsigned>(from_line * pitch + from_index) << 16 | to;
}

/// Returns how many places of a plane may be ghost points: lines or columns on either side of the grid.
template <int i>
constexpr int places_in_columns() {
  return constants::beyond[i][2][0] == Beyond::memory
             ? 0
             : 2 * constants::column_reach[i] * constants::ring_rows[i];
}
template <int i>
constexpr int places_in_rows() {
  return constants::beyond[i][1][0] == Beyond::memory
             ? 0
             : 2 * constants::row_reach[i] * constants::ring_pitch[i];
}

/// Returns the ghost point at place j, or no_ghost.
template <int i>
__device__ inline unsigned ghost_of(const GroupArguments& a, const Tile& tile, int j) {
  constexpr int lines = constants::ring_rows[i], pitch = constants::ring_pitch[i];
  constexpr int columns = 2 * constants::column_reach[i], rows = constants::row_reach[i];
  if constexpr (places_in_columns<i>() > 0)
    if (j < places_in_columns<i>()) {
      const int lead = a.array[i].lead, to_end = static_cast<int>(a.shape[2]) - tile.column + lead;
      const int number = j % columns;
      const int index =
          number < columns / 2 ? lead - tile.column - 1 - number : to_end + number - columns / 2;
      return has_ghost_columns<i>(a, tile) && index >= 0 && index < pitch
                 ? ghost_at<i>(a, tile, j / columns, index)
                 : no_ghost;
    }
  j -= places_in_columns<i>();
  if (j >= places_in_rows<i>() || !has_ghost_rows<i>(a, tile)) return no_ghost;
  const int number = j / pitch, first_row = tile.row + constants::row_low[i];
  const int line =
      number < rows ? -first_row - 1 - number : static_cast<int>(a.shape[1]) - first_row + number - rows;
  return line >= 0 && line < lines ? ghost_at<i>(a, tile, line, j % pitch) : no_ghost;
}

/// Makes a ghost point of a plane.
template <int i>
__device__ inline void make_ghost(Element<i>* plane, unsigned ghost) {
  if (ghost == no_ghost) return;
  const unsigned from = ghost >> 16;
  Element<i>& to = plane[ghost & 0xffffu];
  if (from < of_face) {
    to = plane[from];
    return;
  }
  static_for<0, 4>([&](auto number) {
    constexpr int axis = 1 + decltype(number)::value / 2, side = decltype(number)::value % 2;
    constexpr Compute value = constants::ghost[i][axis][side];
    if (from == of_face + decltype(number)::value) store(to, value);
  });
}

/// Returns how many places in a plane of input `i` a thread looks at, and how many in those of all inputs
/// before.
template <int i>
constexpr int places_of_thread() {
  if constexpr (ghost_threads == 0)
    return 0;
  else
    return (places_in_columns<i>() + places_in_rows<i>() + ghost_threads - 1) / ghost_threads;
}
template <int i>
constexpr int places_before() {
  if constexpr (i == 0)
    return 0;
  else
    return places_before<i - 1>() + places_of_thread<i - 1>();
}

/// Is a thread of those that make the ghost points of planes.
class GhostPoints {
 public:
  __device__ GhostPoints(const GroupArguments& a, const Tile& tile, int thread)
      : a_(a), tile_(tile), thread_(thread) {
    if constexpr (holds)
      static_for<0, constants::inputs>([&](auto input) {
        constexpr int i = decltype(input)::value, before = places_before<i>();
        static_for<0, places_of_thread<i>()>([&](auto number) {
          constexpr int n = decltype(number)::value;
          held_[before + n] = ghost_of<i>(a_, tile_, thread_ + n * ghost_threads);
        });
      });
  }

  /// Makes the ghost points of the thread in a plane of input `i`.
  template <int i>
  __device__ void make(Element<i>* plane) const {
    if constexpr (holds) {
      constexpr int before = places_before<i>();
#pragma unroll
      for (int n = 0; n < places_of_thread<i>(); ++n) make_ghost<i>(plane, held_[before + n]);
    } else {
#pragma unroll 1
      for (int j = thread_; j < places_in_columns<i>() + places_in_rows<i>(); j += ghost_threads)
        make_ghost<i>(plane, ghost_of<i>(a_, tile_, j));
    }
  }

 private:
  // Threads that help have 32 to 40 registers.
  static constexpr int all = places_before<constants::inputs>(), most_held = 12;
#if __CUDA_ARCH__ >= 900
  static constexpr bool holds = all <= most_held;
#else
  static constexpr bool holds = false;  // the threads need their registers to compute
#endif

  const GroupArguments& a_;
  const Tile& tile_;
  int thread_;
  unsigned held_[holds && all > 0 ? all : 1];
};

}  // namespace
}  // namespace spsolve::cuda
