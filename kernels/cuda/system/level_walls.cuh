// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file applies the boundary conditions of single steps to every level of a march of several steps
// (march_steps.cuh). Include it after constants.cuh.

#include "kernels/cuda/system/level_values.cuh"

namespace spsolve::cuda {
namespace {

/// A step reads this far along each axis.
constexpr int reach_planes = constants::reach_planes, reach_rows = constants::reach_rows,
              reach_columns = constants::reach_columns;

/// Returns true if there is a wall at either end of the march.
constexpr bool has_walls_along() {
  for (const auto& of_statement : constants::wall)
    if (of_statement[0][0] != Beyond::memory || of_statement[0][1] != Beyond::memory) return true;
  return false;
}

/// Returns true if a wall along rows or columns reflects.
constexpr bool reflects_across() {
  for (const auto& of_statement : constants::wall)
    for (const int axis : {1, 2})
      for (const Beyond beyond : of_statement[axis])
        if (beyond == Beyond::reflection) return true;
  return false;
}

/// Describes how the points of a thread lie relative to walls along rows and columns. It takes few registers,
/// because the loop without walls needs the others.
struct Place {
  int row, column;            // position of the first point in the tile
  int y, x;                   // coordinates of the first point on the grid
  bool beside_walls = false;  // the tile reaches beyond walls
  AxisBits beyond;            // points beyond faces
  unsigned beyond_walls = 0;  // a bit for each point beyond walls
  AxisBits image;             // points whose reflections beyond faces are read

  __device__ Place(const GroupArguments& a, const Tile& tile) {
    column = static_cast<int>(threadIdx.x) % threads_of_row * columns_of_thread;
    row = static_cast<int>(threadIdx.x) / threads_of_row * rows_of_thread;
    y = tile.row + row;
    x = tile.column + column;
    if constexpr (!constants::has_walls_across) return;
    const int rows = static_cast<int>(a.shape[1]), columns = static_cast<int>(a.shape[2]);
    beside_walls = tile.row < reach_rows || tile.column < reach_columns ||
                   tile.row + tile_rows + reach_rows > rows ||
                   tile.column + constants::tile_columns + reach_columns > columns;
    find(1, y, row, rows_of_thread, rows, tile_rows, reach_rows);
    find(2, x, column, columns_of_thread, columns, constants::tile_columns, reach_columns);
    for (int r = 0; r < rows_of_thread; ++r)
      for (int e = 0; e < columns_of_thread; ++e)
        if (is_beyond_wall(1, r) || is_beyond_wall(2, e)) beyond_walls |= 1u << (r * columns_of_thread + e);
  }

  /// Returns how many rows or columns away the reflection of point k of the thread is.
  __device__ int to_image(const GroupArguments& a, int axis, int side, int k) const {
    const int p = (axis == 1 ? y : x) + k;
    return side == 0 ? -1 - 2 * p : 2 * (static_cast<int>(a.shape[axis]) - p) - 1;
  }

 private:
  /// Returns whether row or column k of the thread lies beyond a wall.
  __device__ bool is_beyond_wall(int axis, int k) const {
    return constants::wall[0][axis][0] != Beyond::memory &&
           (beyond.has(axis, 0, k) || beyond.has(axis, 1, k));
  }
  /// Finds the walls beside points [first, first + of_thread) of the grid, along an axis of `extent` points.
  /// In the tile, which is `tile_extent` long, these points begin at `in_tile`.
  __device__ void find(int axis, int first, int in_tile, int of_thread, int extent, int tile_extent,
                       int reach) {
    static_assert(rows_of_thread <= 8 && columns_of_thread <= 8 && rows_of_thread * columns_of_thread <= 32);
    for (int k = 0; k < of_thread; ++k) {
      const int p = first + k;
      if (p < 0) beyond.set(axis, 0, k);
      if (p >= extent) beyond.set(axis, 1, k);
      if (p >= 0 && p < reach && in_tile + k - 1 - 2 * p >= -reach) image.set(axis, 0, k);
      if (p < extent && p >= extent - reach && in_tile + k + 2 * (extent - p) - 1 < tile_extent + reach)
        image.set(axis, 1, k);
    }
  }
};

/// Holds the values of all statements at the points of a thread.
using Results = Compute[rows_of_thread][columns_of_thread][statements];

/// Calls visit(row, column) for all points of a thread.
template <class Visit>
__device__ __forceinline__ void for_each_point(const Visit& visit) {
  static_for<0, rows_of_thread>(
      [&](auto row) { static_for<0, columns_of_thread>([&](auto column) { visit(row, column); }); });
}

/// Returns true if all ghost points of a statement have one value, those of planes beyond the ends of the
/// march included. Levels then set this value as they compute the points.
template <int s>
constexpr bool sets_all_ghosts() {
  return constants::has_one_value[s];
}

/// Sets points beyond faces with a value to that value. Beyond two such faces, the face of axis 1 decides
/// (rows above or below the grid). `beyond_ends` is true if the plane lies beyond an end of the march.
template <int s>
__device__ inline void set_ghosts(const Place& at, bool beyond_ends, Results& next) {
  if constexpr (sets_all_ghosts<s>()) {
    const unsigned beyond = beyond_ends ? ~0u : at.beyond_walls;
    for_each_point([&](auto row, auto column) {
      constexpr int r = decltype(row)::value, e = decltype(column)::value;
      if (beyond >> (r * columns_of_thread + e) & 1) next[r][e][s] = constants::wall_value[s][0][0];
    });
    return;
  }
  static_for<0, 4>([&](auto number) {
    constexpr int axis = 2 - decltype(number)::value / 2, side = decltype(number)::value % 2;
    if constexpr (constants::wall[s][axis][side] == Beyond::value) {
      constexpr Compute value = constants::wall_value[s][axis][side];
      const unsigned beyond = at.beyond.of(axis, side);
      for_each_point([&](auto row, auto column) {
        constexpr int r = decltype(row)::value, e = decltype(column)::value;
        if (beyond >> (axis == 1 ? r : e) & 1) next[r][e][s] = value;
      });
    }
  });
}

/// Describes the points of a thread that are reflections of other points: the threads of those points store
/// them.
template <int s>
struct Reflected {
  unsigned columns = 0, rows = 0, fixed_columns = 0, fixed_rows = 0;

  __device__ explicit Reflected(const Place& at) {
    static_for<0, 2>([&](auto number) {
      constexpr int side = decltype(number)::value;
      if constexpr (constants::wall[s][1][side] == Beyond::reflection) rows |= at.beyond.of(1, side);
      if constexpr (constants::wall[s][1][side] == Beyond::value) fixed_rows |= at.beyond.of(1, side);
      if constexpr (constants::wall[s][2][side] == Beyond::reflection) columns |= at.beyond.of(2, side);
      if constexpr (constants::wall[s][2][side] == Beyond::value) fixed_columns |= at.beyond.of(2, side);
    });
  }
  /// Returns whether a reflecting wall gives point (r, e) its value. Beyond faces along both axes, the one
  /// with a value decides.
  __device__ bool holds(int r, int e) const {
    return (columns >> e & 1 && !(fixed_rows >> r & 1)) || (rows >> r & 1 && !(fixed_columns >> e & 1));
  }
};

/// Stores a value at the points beyond walls that reflect point (r, e) of a thread, which lies at `own`.
template <int s>
__device__ inline void store_images(const GroupArguments& a, Stored* own, const Place& at, int r, int e,
                                    Compute value) {
  static_for<-1, 2>([&](auto row_number) {
    static_for<-1, 2>([&](auto column_number) {
      constexpr int row_side = decltype(row_number)::value, column_side = decltype(column_number)::value;
      constexpr bool in_rows = row_side >= 0, in_columns = column_side >= 0;
      if constexpr ((in_rows || in_columns) &&
                    (!in_rows || constants::wall[s][1][in_rows ? row_side : 0] == Beyond::reflection) &&
                    (!in_columns ||
                     constants::wall[s][2][in_columns ? column_side : 0] == Beyond::reflection)) {
        int to = 0;
        if constexpr (in_rows) {
          if (!at.image.has(1, row_side, r)) return;
          to += at.to_image(a, 1, row_side, r) * constants::level_pitch[s];
        }
        if constexpr (in_columns) {
          if (!at.image.has(2, column_side, e)) return;
          to += at.to_image(a, 2, column_side, e);
        }
        store(own[to], value);
      }
    });
  });
}

/// Stores the newest values of a level, those of plane z, for threads that read them in other rows and
/// columns. Planes beyond a wall before plane z are stored together with the planes that they reflect.
template <bool walls, int level, int s>
__device__ inline void share(const GroupArguments& a, const SharedPoints& shared, const Place& at, Held& held,
                             int z) {
  constexpr int pitch = constants::level_pitch[s];
  Stored* const own = shared.template stored_now<level, s>();
  static_for<0, rows_of_thread>([&](auto of_thread) {
    constexpr int r = decltype(of_thread)::value;
    if constexpr (has_place<s>(r)) {
      Compute row[columns_of_thread];
      if constexpr (newest_waits<level, s>()) {
        load_row(shared.template stored_before<level, s>() + place_of_row<s>(r) * pitch, row);
#pragma unroll
        for (int e = 0; e < columns_of_thread; ++e)
          held.values[level][s][r][e][newest<level, s>() + lag - 1] = row[e];
      }
#pragma unroll
      for (int e = 0; e < columns_of_thread; ++e)
        row[e] = held.values[level][s][r][e][newest<level, s>() + lag];
      Stored* const to = own + place_of_row<s>(r) * pitch;
      if constexpr (!walls || !reflects<s>() || constants::mirrors) {
        store_row(to, row);
        if constexpr (walls && constants::wall[s][0][0] != Beyond::memory)
          static_for<0, constants::rows_behind>([&](auto number) {
            constexpr int k = decltype(number)::value;
            if (z != k) return;
            if constexpr (constants::wall[s][0][0] == Beyond::value)
              for (Compute& value : row) value = constants::wall_value[s][0][0];
            store_row(shared.template stored<level, s, 2 * k + 1>() + place_of_row<s>(r) * pitch, row);
          });
      } else {
        const Reflected<s> reflected(at);
        static_for<0, columns_of_thread>([&](auto column) {
          constexpr int e = decltype(column)::value;
          if (reflected.holds(r, e)) return;
          store(to[e], row[e]);
          store_images<s>(a, to + e, at, r, e, row[e]);
        });
      }
    }
  });
}

/// Sets the values of the planes beyond a wall before the first plane of a grid. Call it before level `level`
/// + 1 computes that plane, or begins its sums; or the plane before it, if the level keeps values of planes.
template <int level, int s>
__device__ inline void begin_at_wall(Held& held) {
  for_each_point([&](auto row, auto column) {
    auto& values = held.values[level][s][decltype(row)::value][decltype(column)::value];
    static_for<0, reach_planes>([&](auto number) {
      constexpr int k = decltype(number)::value, first = lag + keeps(level + 1);
      values[first + (splits ? lag : 0) - 1 - k] = constants::wall[s][0][0] == Beyond::value
                                                       ? constants::wall_value[s][0][0]
                                                       : mirrored<s, 0, 0, k>(values[first + k]);
    });
  });
}

/// Replaces the newest values of a level that lie `beyond` planes beyond a wall at the end of a march.
template <int level, int s>
__device__ inline void end_at_wall(Held& held, int beyond) {
  constexpr int first = oldest<level, s>() + lag, last = newest<level, s>() + lag;
  if (beyond < 0) return;
  for_each_point([&](auto row, auto column) {
    auto& values = held.values[level][s][decltype(row)::value][decltype(column)::value];
    if constexpr (constants::wall[s][0][1] == Beyond::value) {
      values[last] = constants::wall_value[s][0][1];
    } else {
      static_for<0, reach_planes>([&](auto number) {
        constexpr int k = decltype(number)::value, from = last - 1 - 2 * k;
        if constexpr (from >= first)
          if (beyond == k) values[last] = mirrored<s, 0, 1, k>(values[from]);
      });
    }
  });
}

}  // namespace
}  // namespace spsolve::cuda
