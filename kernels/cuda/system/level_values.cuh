// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file holds the time levels that a march of several steps (march_steps.cuh) keeps on the chip, and
// says how points read them. Include it after constants.cuh.
//
// A thread has the values at its own points in registers. Points of other threads in the same rows come by
// shuffles, since a warp lies along a row. Other rows come from shared memory, as vectors. All that a thread
// reads of a level is gathered at once, and each value once for all points that read it.

#include "kernels/cuda/system/planes.cuh"

namespace spsolve::cuda {
namespace {

constexpr int steps = constants::steps, lag = constants::lag, statements = constants::statements;
constexpr int columns_of_thread = constants::columns_of_thread;
constexpr int threads_of_row = constants::tile_columns / columns_of_thread;
constexpr int warps_of_row = threads_of_row / warp_threads;
/// Say how far inputs are read in other rows and columns.
constexpr int beside_rows = constants::beside_rows, beside_columns = constants::beside_columns;

/// Holds the values of levels 0 to steps - 1 at the columns of a thread's points, by the statement that makes
/// them. Values of level 0 may be read from its ring instead. Element [offset + lag] of level l belongs to
/// the plane at this offset from the one that level l + 1 computes in the same iteration.
struct Held {
  Compute values[steps][statements][rows_of_thread][columns_of_thread][2 * lag + 1];
};

/// Returns the offset of the oldest plane of a level that is read.
template <int level, int s>
constexpr int oldest() {
  return constants::is_read_before[s] && level + 2 <= steps ? -lag : constants::queue_low[s];
}
/// Returns the offset of the newest plane of a level.
template <int level, int s>
constexpr int newest() {
  if constexpr (level > 0 || constants::input_of[s] < 0)
    return lag;
  else
    return constants::plane_high[constants::input_of[s]];
}

template <int s, int axis>
constexpr bool reflects_along() {
  return constants::wall[s][axis][0] == Beyond::reflection ||
         constants::wall[s][axis][1] == Beyond::reflection;
}
/// Returns true if points beyond reflecting walls, which other threads compute, have right values only in
/// shared memory.
template <int s>
constexpr bool reflects() {
  return reflects_along<s, 1>() || reflects_along<s, 2>();
}

/// Returns true if a point of a thread reads an input in `plane` at this row, or at this row and column,
/// counted from the first point of the thread.
constexpr bool is_row_read(int input, int plane, int row) {
  for (const auto& read : constants::reads)
    if (read[0] == input && read[1] == plane && row >= read[2] && row < read[2] + rows_of_thread) return true;
  return false;
}
constexpr bool is_read(int input, int plane, int row, int column) {
  for (const auto& read : constants::reads)
    if (read[0] == input && read[1] == plane && row >= read[2] && row < read[2] + rows_of_thread &&
        column >= read[3] && column < read[3] + columns_of_thread)
      return true;
  return false;
}

/// Loads the values of neighbouring points, which lie at an aligned address.
template <class T>
__device__ inline void load_row(const T* from, Compute* to) {
  const auto row = *reinterpret_cast<const ElementVector<T, columns_of_thread>*>(from);
#pragma unroll
  for (int e = 0; e < columns_of_thread; ++e) to[e] = static_cast<Compute>(value_of(row.element[e]));
}
/// Stores the values of neighbouring points at an aligned address.
template <class T>
__device__ inline void store_row(T* to, const Compute (&values)[columns_of_thread]) {
  ElementVector<T, columns_of_thread> row;
#pragma unroll
  for (int e = 0; e < columns_of_thread; ++e) store(row.element[e], values[e]);
  *reinterpret_cast<ElementVector<T, columns_of_thread>*>(to) = row;
}

/// Says where a thread finds its first point in shared memory.
class SharedPoints {
 public:
  __device__ SharedPoints()
      : thread_row_(static_cast<int>(threadIdx.x) / threads_of_row),
        column_(static_cast<int>(threadIdx.x) % threads_of_row * columns_of_thread) {
    static_for<0, constants::inputs>([&](auto input) {
      constexpr int i = decltype(input)::value;
      newest_[i] = constants::ring_depth[i] - 1;
    });
  }

  /// Begins iteration n.
  __device__ void begin(int n) {
    static_for<0, constants::inputs>([&](auto input) {
      constexpr int i = decltype(input)::value;
      newest_[i] = newest_[i] + 1 == constants::ring_depth[i] ? 0 : newest_[i] + 1;
    });
    level_slot_ = static_cast<int>(static_cast<unsigned>(n) % static_cast<unsigned>(constants::level_planes));
  }

  /// Returns the point in the ring of input `i`, in the plane that arrived `back` iterations ago.
  template <int i, int back>
  __device__ const Element<i>* in_ring() const {
    int slot = newest_[i] - back;
    if (back > 0 && slot < 0) slot += constants::ring_depth[i];
    return plane_in_ring<i>(slot) +
           (thread_row_ * rows_of_thread - constants::row_low[i]) * constants::ring_pitch[i] + column_ +
           constants::ring_lead[i];
  }
  /// Returns the point in the plane of a level that this iteration stores, or that the next level reads.
  template <int level, int s>
  __device__ Stored* stored_now() const {
    return in_level<level, s>(level_slot_);
  }
  template <int level, int s>
  __device__ const Stored* stored_before() const {
    // The plane was stored `lag` iterations ago.
    if constexpr (constants::level_planes == lag) return in_level<level, s>(level_slot_);
    return in_level<level, s>(level_slot_ == lag ? 0 : level_slot_ + 1);
  }

 private:
  template <int level, int s>
  __device__ Stored* in_level(int slot) const {
    return reinterpret_cast<Stored*>(memory + constants::level_offset[s] +
                                     ((level - 1) * constants::level_planes + slot) *
                                         constants::level_plane_bytes[s]) +
           (thread_row_ * constants::level_stored_rows[s] + constants::level_rows[s]) *
               constants::level_pitch[s] +
           column_ + constants::level_columns[s];
  }

  int thread_row_, column_;
  int newest_[constants::inputs > 0 ? constants::inputs : 1];
  int level_slot_ = 0;
};

/// Returns where row `row` of a thread lies in the plane of a level, in rows from its first one. Where nobody
/// reads the inner rows of a thread, they are left out.
template <int s>
constexpr int place_of_row(int row) {
  constexpr int left_out = rows_of_thread - constants::level_stored_rows[s];
  return row < constants::level_rows[s] ? row : row - left_out;
}
template <int s>
constexpr bool has_place(int row) {
  return constants::level_stored_rows[s] == rows_of_thread || row < constants::level_rows[s] ||
         row >= rows_of_thread - constants::level_rows[s];
}

/// Holds all values that the points of a thread read where level `level` is computed.
template <int level, bool walls>
class Neighbours {
 public:
  __device__ Neighbours(const Held& held, const SharedPoints& shared) {
    static_for<0, constants::inputs>([&](auto input) {
      constexpr int i = decltype(input)::value;
      static_for<constants::plane_low[i], constants::plane_high[i] + 1>([&](auto of_plane) {
        static_for<-beside_rows, rows_of_thread + beside_rows>([&](auto of_row) {
          constexpr int plane = decltype(of_plane)::value, row = decltype(of_row)::value;
          if constexpr (is_row_read(i, plane, row)) {
            get_own<i, plane, row>(held, shared);
            static_for<-beside_columns, 0>(
                [&](auto column) { get_beside<i, plane, row, decltype(column)::value>(shared); });
            static_for<columns_of_thread, columns_of_thread + beside_columns>(
                [&](auto column) { get_beside<i, plane, row, decltype(column)::value>(shared); });
          }
        });
      });
    });
  }

  template <int i, int plane, int row, int column>
  __device__ Compute at() const {
    return row_of<i, plane>(row)[column + beside_columns];
  }

 private:
  static constexpr bool in_ring = constants::level_0_in_ring;
  /// Returns true if neighbours in a row come from shared memory, too, since ghost points have right values
  /// only there.
  template <int i, int plane>
  static constexpr bool has_ghosts() {
    constexpr int s = constants::statement_of[i];
    if constexpr (s < 0 || level == 1)
      return false;
    else
      return walls && constants::is_previous[i] == 0 && plane == 0 && reflects<s>() &&
             constants::level_pitch[s] > 0;
  }
  /// Returns true if the values at the points of the thread come from shared memory.
  template <int i, int plane>
  static constexpr bool is_shared() {
    if constexpr (constants::statement_of[i] < 0)
      return true;
    else if constexpr (constants::is_previous[i] != 0)
      return level == 1 || (level == 2 && in_ring);
    else
      return (level == 1 && in_ring) || has_ghosts<i, plane>();
  }
  /// Returns the first point of a row of the thread in shared memory.
  template <int i, int plane, int row>
  __device__ static auto shared_row(const SharedPoints& shared) {
    constexpr int s = constants::statement_of[i];
    if constexpr (s < 0)
      return shared.template in_ring<i, constants::plane_high[i] - plane + (level - 1) * lag>() +
             row * constants::ring_pitch[i];
    else if constexpr (level == 2 && constants::is_previous[i] != 0)
      return shared.template in_ring<constants::input_of[s],
                                     constants::plane_high[constants::input_of[s]] + lag>() +
             row * constants::ring_pitch[constants::input_of[s]];
    else if constexpr (level == 1)
      return shared.template in_ring<i, constants::plane_high[i] - plane>() + row * constants::ring_pitch[i];
    else
      return shared.template stored_before<level - 1, s>() + place_of_row<s>(row) * constants::level_pitch[s];
  }

  /// Gets the values at the columns of the thread.
  template <int i, int plane, int row>
  __device__ void get_own(const Held& held, const SharedPoints& shared) {
    constexpr int s = constants::statement_of[i];
    Compute* const to = row_of<i, plane>(row) + beside_columns;
    if constexpr (is_shared<i, plane>() || row < 0 || row >= rows_of_thread) {
      load_row(shared_row<i, plane, row>(shared), to);
    } else {
      constexpr bool is_previous = constants::is_previous[i] != 0;
      constexpr int from = level - 1 - is_previous, offset = is_previous ? -lag : plane;
#pragma unroll
      for (int e = 0; e < columns_of_thread; ++e) to[e] = held.values[from][s][row][e][offset + lag];
    }
  }
  /// Gets the value at a column of another thread, if it is read.
  template <int i, int plane, int row, int column>
  __device__ void get_beside(const SharedPoints& shared) {
    if constexpr (is_read(i, plane, row, column)) {
      constexpr int lanes =
          (column < 0 ? column - columns_of_thread + 1 : column) / columns_of_thread;  // rounded down
      Compute* const values = row_of<i, plane>(row) + beside_columns;
      if constexpr (has_ghosts<i, plane>()) {
        values[column] = static_cast<Compute>(value_of(shared_row<i, plane, row>(shared)[column]));
        return;
      }
      const Compute there = values[column - lanes * columns_of_thread];
      values[column] = lanes < 0 ? __shfl_up_sync(0xffffffffu, there, -lanes)
                                 : __shfl_down_sync(0xffffffffu, there, lanes);
      // Values beside a warp at the edge of the tile are right on level 0 only. All lanes load, so that there
      // is no branch; lanes that need nothing load what their neighbours do.
      if constexpr (level == 1 || warps_of_row > 1) {
        const int lane = static_cast<int>(threadIdx.x) % warp_threads;
        const auto* const own = shared_row<i, plane, row>(shared);
        const int to_edge = (lanes < 0 ? 0 : warp_threads - 1) - lane;
        const bool is_edge = lane + lanes < 0 || lane + lanes >= warp_threads;
        const Compute beyond =
            static_cast<Compute>(value_of(own[column + (is_edge ? 0 : to_edge * columns_of_thread)]));
        if (is_edge) values[column] = beyond;
      }
    }
  }

  template <int i, int plane>
  __device__ Compute* row_of(int row) {
    return values_[constants::read_planes_before[i] + plane - constants::plane_low[i]][row + beside_rows];
  }
  template <int i, int plane>
  __device__ const Compute* row_of(int row) const {
    return values_[constants::read_planes_before[i] + plane - constants::plane_low[i]][row + beside_rows];
  }

  Compute values_[constants::read_planes][rows_of_thread + 2 * beside_rows]
                 [columns_of_thread + 2 * beside_columns];
};

/// Is a point of the tile where level `level` is computed: row `r` and column `e` of those of its thread.
template <int level, bool walls, int r, int e>
class LevelPoint {
 public:
  __device__ LevelPoint(const GroupArguments& a, const Neighbours<level, walls>& around)
      : a_(a), around_(around) {}

  template <int i>
  __device__ Compute scalar() const {
    return static_cast<Compute>(a_.scalars[(level - 1) * constants::scalars + i]);
  }
  template <int i, int plane, int row, int column>
  __device__ Compute read() const {
    return around_.template at<i, plane, r + row, e + column>();
  }

 private:
  const GroupArguments& a_;
  const Neighbours<level, walls>& around_;
};

}  // namespace
}  // namespace spsolve::cuda
