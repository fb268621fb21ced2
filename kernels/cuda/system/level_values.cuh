// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file holds the time levels that a march of several steps (march_steps.cuh) keeps on the chip, and
// says how points read them. Include it after constants.cuh.
//
// A thread has the values at its own points in registers. Points of other threads in the same rows come by
// shuffles, since a warp lies along a row. Other rows come from shared memory, as vectors. A thread gathers
// all values that it reads of a level at once; each value is loaded once for all points that read it.
//
// Where a step reads far, sums are split: a level begins the sums of a plane as soon as other threads have
// stored the plane. It finishes them when the planes after it have arrived, of which it reads its own column
// only. So shared memory holds the newest planes only. All neighbours then come from shared memory: for wide
// rows, loads of vectors are fewer than shuffles. Values that `.previous` reads later wait in shared memory,
// each at a place of its thread.

#include "kernels/cuda/system/planes.cuh"

namespace spsolve::cuda {
namespace {

constexpr int steps = constants::steps, lag = constants::lag, statements = constants::statements;
constexpr int columns_of_thread = constants::columns_of_thread;
constexpr int threads_of_row = constants::tile_columns / columns_of_thread;
constexpr int warps_of_row = threads_of_row / warp_threads;
constexpr bool splits = constants::splits, shuffles = !splits;
/// Returns true if a level keeps values of a plane for the next plane (KeptGroup). Level 1 keeps none if it
/// reads all planes from rings.
constexpr bool keeps(int level) { return constants::kept > 0 && (level > 1 || !constants::level_0_in_ring); }
/// Returns true if threads take values of a level from their neighbours in a row. Level 1 takes none, since
/// its values are right up to the edges of a tile.
constexpr bool takes(int level) { return constants::taken > 0 && level > 1; }
/// Says how many rows and columns beyond its own points a thread reads inputs.
constexpr int beside_rows = constants::beside_rows, beside_columns = constants::beside_columns;
/// Counts the columns on either side that a thread gathers: beside_columns, rounded up to whole vectors.
constexpr int gathered_columns =
    shuffles ? beside_columns
             : (beside_columns + columns_of_thread - 1) / columns_of_thread * columns_of_thread;

/// Names the parts of the work of a level in an iteration: it finishes the sums of one plane, and may begin
/// the sums of another.
enum Part { finishing = 0, beginning = 1 };
/// Names the part that reads rows and columns beyond the points of a thread.
constexpr Part reading_part = splits ? beginning : finishing;

/// Holds the values of levels 0 to steps - 1 at the columns of a thread's points, by the statement that makes
/// them. Values of level 0 may be read from its ring instead. Element [offset + lag] of level l belongs to
/// the plane at this offset from the one that level l + 1 computes in the same iteration.
struct Held {
  Compute values[steps][statements][rows_of_thread][columns_of_thread][2 * lag + 1];
  /// Holds sums that level l + 1 has begun: first those of the plane that it finishes in this iteration, last
  /// those of the newest plane.
  Compute begun[steps][splits ? constants::sums : 1][rows_of_thread][columns_of_thread][lag + 1];
  /// Holds the values that level l + 1 keeps.
  Compute kept[steps][constants::kept > 0 ? constants::kept : 1][rows_of_thread][columns_of_thread];
};

/// Returns true if older values of a level wait in shared memory.
template <int level, int s>
constexpr bool keeps_old() {
  return splits && constants::is_read_before[s] && level + 2 <= steps;
}
/// Returns the offset of the oldest plane of a level that is held in registers.
template <int level, int s>
constexpr int oldest() {
  if constexpr (splits) {
    constexpr int finished = constants::queue_low[s], begun = lag + constants::begin_low[s];
    return (finished < begun ? finished : begun) +
           (level == 0 && keeps_old<0, s>() ? constants::moved_planes : 0);
  }
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

/// Returns true if the newest values of a level are read from shared memory after the iteration that computes
/// them, until the next ones replace them there.
template <int level, int s>
constexpr bool newest_waits() {
  return splits && level > 0 && constants::level_pitch[s] > 0;
}
/// Returns the number of older planes of a level that wait in shared memory.
template <int level, int s>
constexpr int old_planes() {
  return oldest<level, s>() + lag;
}
/// Returns the number of older planes of all levels below this one that wait in shared memory.
template <int level, int s>
constexpr int planes_before() {
  if constexpr (level == 0)
    return 0;
  else
    return planes_before<level - 1, s>() + old_planes<level - 1, s>();
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

/// Returns the value of a ghost point in a layer beyond a reflecting wall, from the value that it mirrors. If
/// the face is filled, it has the bits of fill_walls.cuh.
template <int s, int axis, int side, int layer = 0>
__device__ inline Compute mirrored(Compute value) {
  if constexpr (constants::is_filled[s][axis][side])
    return operations::as_stored<Stored>(fused(constants::filled_scale[s][axis][side][layer], value,
                                               constants::filled_given[s][axis][side][layer]));
  return value;
}

/// Holds the rows and columns of a thread as bits of a word, by axis and side of the grid.
class AxisBits {
 public:
  /// Sets the bit of row or column `k`.
  __device__ void set(int axis, int side, int k) { word_ |= 1u << (shift(axis, side) + k); }
  __device__ bool has(int axis, int side, int k) const { return word_ >> (shift(axis, side) + k) & 1; }
  /// Returns the bits of an axis and a side.
  __device__ unsigned of(int axis, int side) const { return word_ >> shift(axis, side) & 0xffu; }

 private:
  __device__ static constexpr int shift(int axis, int side) { return 8 * (2 * (axis - 1) + side); }
  unsigned word_ = 0;
};

/// Returns true if a point of a thread reads an input on a level in `plane` at this row, or at this row and
/// one of the columns [first, last), counted from the first point of the thread.
template <class Reads>
constexpr bool is_among(const Reads& reads, int input, int plane, int row, int first, int last) {
  for (const auto& read : reads)
    if (read[0] == input && read[1] == plane && row >= read[2] && row < read[2] + rows_of_thread &&
        last > read[3] && first < read[3] + columns_of_thread)
      return true;
  return false;
}
constexpr bool is_read(int level, int input, int plane, int row, int first, int last) {
  return takes(level)   ? is_among(constants::taken_reads, input, plane, row, first, last)
         : keeps(level) ? is_among(constants::kept_reads, input, plane, row, first, last)
                        : is_among(constants::reads, input, plane, row, first, last);
}
constexpr bool is_row_read(int level, int input, int plane, int row) {
  return is_read(level, input, plane, row, -beside_columns, columns_of_thread + beside_columns);
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

/// Locates the first point of a thread in shared memory.
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
    if constexpr (splits) iteration_ = static_cast<unsigned>(n);
  }

  /// Returns the point in the ring of input `i`, in the plane that arrived `back` iterations ago.
  template <int i, int back>
  __device__ const InputElement<i>* in_ring() const {
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
  /// Returns the point in the plane of a level that the next one computes, or `plane` planes after it.
  template <int level, int s, int plane = 0>
  __device__ const Stored* stored_before() const {
    return stored<level, s, constants::level_lag - plane>();
  }
  /// Returns the point in the plane of a level that was stored some iterations ago.
  template <int level, int s, int ago>
  __device__ Stored* stored() const {
    constexpr int planes = constants::level_planes, later = planes - ago;
    static_assert(0 < ago && ago <= planes);
    if constexpr (later == 0) return in_level<level, s>(level_slot_);
    return in_level<level, s>(level_slot_ + later - (level_slot_ >= ago ? planes : 0));
  }
  /// Returns a row of old values of a level at the thread's own points, at an offset of planes. The newest of
  /// them are stored in this iteration.
  template <int level, int s, int offset, int row>
  __device__ Stored* old_row() const {
    constexpr unsigned planes = old_planes<level, s>(), later = oldest<level, s>() - 1 - offset;
    constexpr int first = planes_before<level, s>();
    const int slot = static_cast<int>((iteration_ + planes - later) % planes);
    return reinterpret_cast<Stored*>(memory + constants::old_offset[s]) +
           (((first + slot) * rows_of_thread + row) * constants::threads + static_cast<int>(threadIdx.x)) *
               columns_of_thread;
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
  unsigned iteration_ = 0;
};

/// Orders reads and writes of the warps of a tile in the planes of levels in shared memory. Warps read planes
/// that other warps stored in earlier iterations, and store the newest planes in place of older ones. A warp
/// signals when it has read and when it has stored. It waits for the other warps only before its next store
/// or read, with work in between.
class Turns {
 public:
  /// Makes the barrier. Threads must be synchronised before they use it.
  __device__ Turns() {
#if __CUDA_ARCH__ >= 900
    if (constants::shares_levels && threadIdx.x == 0)
      mbarrier_init(barrier(), constants::threads / warp_threads);
#endif
  }
  /// Waits until all warps have stored the planes of the iteration before `n`.
  __device__ void wait_for_stores(int n) const {
    if constexpr (constants::shares_levels) wait(two_turns ? 1u : ~static_cast<unsigned>(n) & 1u);
  }
  __device__ void end_reads() const {
    if constexpr (two_turns) arrive();
  }
  /// Waits until all warps have read what the stores of this iteration replace.
  __device__ void wait_for_reads() const {
    if constexpr (two_turns) wait(0);
  }
  __device__ void end_stores() const {
    if constexpr (constants::shares_levels) arrive();
  }

 private:
  /// Is true if stores replace planes that the same iteration reads. With one more plane, stores replace a
  /// plane that the iteration before has read; a warp has read that plane when it ends the stores of that
  /// iteration.
  static constexpr bool two_turns =
      constants::shares_levels && constants::level_planes == constants::level_lag + constants::rows_behind;

#if __CUDA_ARCH__ >= 900
  /// Returns the barrier, the last of 16 for which barrier_bytes has room. The first ones belong to planes.
  /// Each phase of the barrier is a turn.
  __device__ static unsigned long long* barrier() {
    constexpr int number = 15;
    static_assert(3 * (constants::ahead + 1) <= number);
    return reinterpret_cast<unsigned long long*>(memory) + number;
  }
  __device__ static void arrive() {
    __syncwarp();
    if (threadIdx.x % warp_threads == 0) mbarrier_arrive(barrier());
  }
  __device__ static void wait(unsigned parity) { mbarrier_wait(barrier(), parity); }
#else
  __device__ static void arrive() {}
  __device__ static void wait(unsigned) { synchronize_threads<constants::threads>(1); }
#endif
};

/// Returns where row `row` of a thread lies in the plane of a level, in rows from its first one. Inner rows
/// of a thread that no other thread reads are left out.
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

/// Holds the values of an input at the columns of a thread.
struct ThreadColumns {
  Compute value[columns_of_thread];
};

/// Locates the values that the points of a thread read in a part of level `level`.
template <int level, bool walls, Part part>
class LevelReads {
 public:
  __device__ LevelReads(const Held& held, const SharedPoints& shared) : held_(held), shared_(shared) {}

  /// Returns the values of an input in a row, counted from the first row of the thread: at the thread's own
  /// columns, or at those of the thread that is `away` columns away.
  template <int i, int plane, int row, int away = 0>
  __device__ __forceinline__ ThreadColumns columns() const {
    constexpr int s = constants::statement_of[i];
    ThreadColumns result;
    if constexpr (is_shared<i, plane>() || row < 0 || row >= rows_of_thread || away != 0) {
      load_row(shared_row<i, plane, row>() + away, result.value);
    } else {
      constexpr bool is_previous = constants::is_previous[i] != 0;
      constexpr int from = level - 1 - is_previous, offset = is_previous ? -lag : plane + ahead;
      constexpr int waiting = part == beginning ? lag : lag - 1;
      if constexpr (newest_waits<from, s>() && !is_previous && offset == waiting) {
        load_row(shared_row<i, plane, row>(), result.value);
      } else if constexpr (offset < oldest<from, s>()) {
        load_row(shared_.template old_row<from, s, offset - since_held, row>(), result.value);
      } else {
#pragma unroll
        for (int e = 0; e < columns_of_thread; ++e)
          result.value[e] = held_.values[from][s][row][e][offset + lag];
      }
    }
    return result;
  }

 protected:
  /// Returns true if neighbours in a row also come from shared memory, because ghost points have right values
  /// only there.
  template <int i, int plane>
  static constexpr bool has_ghosts() {
    constexpr int s = constants::statement_of[i];
    if constexpr (s < 0 || level == 1 || part != reading_part)
      return false;
    else
      return walls && !constants::mirrors && constants::is_previous[i] == 0 && plane == 0 && reflects<s>() &&
             constants::level_pitch[s] > 0;
  }
  /// Returns true if the values that a thread reads beyond its own points may lie beyond a reflecting wall of
  /// an axis. It then finds them among its own values.
  template <int i, int plane, int axis, int side>
  static constexpr bool is_mirror() {
    constexpr int s = constants::statement_of[i];
    if constexpr (s < 0 || level == 1)
      return false;
    else
      return walls && constants::mirrors && constants::is_previous[i] == 0 &&
             constants::wall[s][axis][side] == Beyond::reflection;
  }
  /// Returns the first point of a row of the thread in shared memory.
  template <int i, int plane, int row>
  __device__ auto shared_row() const {
    constexpr int s = constants::statement_of[i], stored_plane = splits ? 0 : plane;
    if constexpr (s < 0)
      return shared_.template in_ring<i, constants::plane_high[i] - plane + (level - 1) * lag>() +
             row * constants::ring_pitch[i];
    else if constexpr (level == 2 && constants::is_previous[i] != 0)
      return shared_.template in_ring<constants::input_of[s],
                                      constants::plane_high[constants::input_of[s]] + lag>() +
             row * constants::ring_pitch[constants::input_of[s]];
    else if constexpr (level == 1)
      return shared_.template in_ring<i, constants::plane_high[i] - plane - ahead>() +
             row * constants::ring_pitch[i];
    else
      return shared_.template stored_before<level - 1, s, stored_plane>() +
             place_of_row<s>(row) * constants::level_pitch[s];
  }

 private:
  static constexpr bool in_ring = constants::level_0_in_ring;
  // Sums of the newest plane are begun on level 1, which reads loaded planes, after registers hold the plane.
  // On other levels they are begun before the level below holds its next plane.
  static constexpr int ahead = part == beginning ? lag : 0, since_held = part == beginning && level > 1;

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

  const Held& held_;
  const SharedPoints& shared_;
};

/// Holds all values that the points of a thread read when a level finishes a plane.
template <int level, bool walls>
class GatheredValues : LevelReads<level, walls, finishing> {
  using Reads = LevelReads<level, walls, finishing>;

 public:
  /// `at_walls` says which points of the thread lie at walls.
  __device__ GatheredValues(const Held& held, const SharedPoints& shared, const AxisBits& at_walls)
      : Reads(held, shared), at_walls_(at_walls) {
    static_for<0, constants::inputs>([&](auto input) {
      constexpr int i = decltype(input)::value;
      static_for<constants::plane_low[i], constants::plane_high[i] + 1>([&](auto of_plane) {
        static_for<-beside_rows, rows_of_thread + beside_rows>([&](auto of_row) {
          constexpr int plane = decltype(of_plane)::value, row = decltype(of_row)::value;
          if constexpr (is_row_read(level, i, plane, row)) {
            get<i, plane, row, 0>();
            if constexpr (shuffles) {
              static_for<-beside_columns, 0>(
                  [&](auto column) { get_beside<i, plane, row, decltype(column)::value>(); });
              static_for<columns_of_thread, columns_of_thread + beside_columns>(
                  [&](auto column) { get_beside<i, plane, row, decltype(column)::value>(); });
            } else {
              static_for<1, gathered_columns / columns_of_thread + 1>([&](auto threads) {
                constexpr int away = decltype(threads)::value * columns_of_thread;
                get<i, plane, row, -away>();
                get<i, plane, row, away>();
              });
            }
          }
        });
      });
    });
  }

  template <int i, int plane, int row, int column>
  __device__ Compute at() const {
    return row_of<i, plane>(row)[column + gathered_columns];
  }

 private:
  /// Gets the values at the columns of the thread that is `away` columns away, if any of them is read.
  template <int i, int plane, int row, int away>
  __device__ void get() {
    if constexpr (away == 0 || is_read(level, i, plane, row, away, away + columns_of_thread)) {
      constexpr int side = row >= rows_of_thread;
      ThreadColumns columns;
      if constexpr ((row < 0 || side == 1) && Reads::template is_mirror<i, plane, 1, side>()) {
        // The row beyond a wall mirrors the row at the wall, which the thread has stored itself.
        constexpr int s = constants::statement_of[i], pitch = constants::level_pitch[s];
        const bool is_beyond = at_walls_.has(1, side, side == 0 ? 0 : rows_of_thread - 1);
        const int to_wall = is_beyond ? (side == 0 ? pitch : -pitch) : 0;
        load_row(this->template shared_row<i, plane, row>() + to_wall, columns.value);
        if (is_beyond)
          for (Compute& value : columns.value) value = mirrored<s, 1, side>(value);
      } else {
        columns = this->template columns<i, plane, row, away>();
      }
#pragma unroll
      for (int e = 0; e < columns_of_thread; ++e)
        row_of<i, plane>(row)[gathered_columns + away + e] = columns.value[e];
    }
  }
  /// Gets the value at a column of another thread, if it is read.
  template <int i, int plane, int row, int column>
  __device__ void get_beside() {
    if constexpr (is_read(level, i, plane, row, column, column + 1)) {
      constexpr int lanes =
          (column < 0 ? column - columns_of_thread + 1 : column) / columns_of_thread;  // rounded down
      Compute* const values = row_of<i, plane>(row) + gathered_columns;
      if constexpr (Reads::template has_ghosts<i, plane>()) {
        values[column] = static_cast<Compute>(value_of(this->template shared_row<i, plane, row>()[column]));
        return;
      }
      const Compute there = values[column - lanes * columns_of_thread];
      values[column] = lanes < 0 ? __shfl_up_sync(0xffffffffu, there, -lanes)
                                 : __shfl_down_sync(0xffffffffu, there, lanes);
      // Values beside a warp at the edge of the tile are right on level 0 only. All lanes load, to avoid a
      // branch; lanes that need nothing load the values of their neighbours.
      if constexpr (level == 1 || warps_of_row > 1) {
        const int lane = static_cast<int>(threadIdx.x) % warp_threads;
        const auto* const own = this->template shared_row<i, plane, row>();
        const int to_edge = (lanes < 0 ? 0 : warp_threads - 1) - lane;
        const bool is_edge = lane + lanes < 0 || lane + lanes >= warp_threads;
        const Compute beyond =
            static_cast<Compute>(value_of(own[column + (is_edge ? 0 : to_edge * columns_of_thread)]));
        if (is_edge) values[column] = beyond;
      }
      constexpr int side = column > 0, at_wall = side == 0 ? 0 : columns_of_thread - 1;
      if constexpr (Reads::template is_mirror<i, plane, 2, side>())
        if (at_walls_.has(2, side, at_wall))
          values[column] = mirrored<constants::statement_of[i], 2, side>(values[at_wall]);
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

  const AxisBits& at_walls_;
  Compute values_[constants::read_planes][rows_of_thread + 2 * beside_rows]
                 [columns_of_thread + 2 * gathered_columns];
};

/// Counts the values that a thread takes from the thread before it in a row; at least 1, as the size of an
/// array.
constexpr int taken_values_of_row = constants::taken > 0 ? constants::taken : 1;
/// Holds these values by row.
using Taken = Compute[rows_of_thread][taken_values_of_row];

/// Describes the point in row `r` and column `e` of a thread when level `level` finishes a plane.
template <int level, bool walls, int r, int e>
class LevelPoint {
 public:
  static constexpr bool takes = e == 0;  // values at the column before

  /// The coordinates are those of the point on the grid.
  __device__ LevelPoint(const GroupArguments& a, Held& held, const GatheredValues<level, walls>& around,
                        const Taken& taken, int plane, int row, int column)
      : a_(a), held_(held), around_(around), taken_(taken), coordinates_{plane, row, column} {}

  /// Returns true if the point that is displaced along an axis lies beyond a face of the grid.
  template <int axis, int displacement>
  __device__ bool is_beyond() const {
    return is_beyond_face<displacement>(coordinates_[axis], a_.shape[axis]);
  }

  template <int i>
  __device__ Compute scalar() const {
    return static_cast<Compute>(a_.scalars[(level - 1) * constants::scalars + i]);
  }
  template <int sum>
  __device__ Compute begun() const {
    return held_.begun[level - 1][sum][r][e][0];
  }
  template <int i>
  __device__ Compute kept() const {
    return held_.kept[level - 1][i][r][e];
  }
  template <int i>
  __device__ void keep(Compute value) const {
    held_.kept[level - 1][i][r][e] = value;
  }
  template <int i>
  __device__ Compute taken() const {
    return taken_[r][i];
  }
  template <int i, int plane, int row, int column>
  __device__ Compute read() const {
    return around_.template at<i, plane, r + row, e + column>();
  }

 private:
  const GroupArguments& a_;
  Held& held_;
  const GatheredValues<level, walls>& around_;
  const Taken& taken_;
  int coordinates_[3];
};

/// Describes the points of a thread when level `level` begins the sums of a plane.
template <int level, bool walls>
class LevelSums {
 public:
  using PointSums = Compute[rows_of_thread][columns_of_thread];

  __device__ LevelSums(Held& held, const SharedPoints& shared) : held_(held), reads_(held, shared) {}

  /// Starts sums with the value to which the first product is added exactly.
  __device__ __forceinline__ void start(PointSums& sums) const {
    for (auto& row : sums)
      for (Compute& sum : row) sum = Compute(-0.0);
  }
  /// Adds, at every point, a weight times the value of an input at a displacement. All points take one
  /// displacement after the other together, so that few rows are needed at a time.
  template <int i, int plane, int row, int column>
  __device__ __forceinline__ void add(PointSums& sums, Compute weight) const {
    static_for<0, rows_of_thread>([&](auto of_thread) {
      static_for<0, columns_of_thread>([&](auto of_row) {
        constexpr int r = decltype(of_thread)::value, e = decltype(of_row)::value;
        constexpr int away =
            (e + column + gathered_columns) / columns_of_thread * columns_of_thread - gathered_columns;
        const ThreadColumns there = reads_.template columns<i, plane, r + row, away>();
        sums[r][e] = fused(weight, there.value[e + column - away], sums[r][e]);
      });
    });
  }
  /// Holds sums that have been begun.
  template <int sum>
  __device__ __forceinline__ void hold(const PointSums& sums) {
#pragma unroll
    for (int r = 0; r < rows_of_thread; ++r)
#pragma unroll
      for (int e = 0; e < columns_of_thread; ++e) held_.begun[level - 1][sum][r][e][lag] = sums[r][e];
  }

 private:
  Held& held_;
  LevelReads<level, walls, beginning> reads_;
};

/// Describes the points of a thread when level `level` continues the sums of planes before the newest plane.
template <int level>
class ContinuedSums {
 public:
  /// Makes room for the sums of the newest plane.
  explicit __device__ ContinuedSums(Held& held) : held_(held) {
    for (auto& sum : held.begun[level - 1])
      for (auto& row : sum)
        for (auto& begun : row)
#pragma unroll
          for (int k = 0; k < lag; ++k) begun[k] = begun[k + 1];
  }

  /// Adds a weight times the newest value of an input at every point to the sums that read it `plane` planes
  /// ahead.
  template <int sum, int i, int plane, int row, int column>
  __device__ __forceinline__ void add(Compute weight) const {
    constexpr int s = constants::statement_of[i], newest_plane = newest<level - 1, s>() + lag;
    static_assert(row == 0 && column == 0);
#pragma unroll
    for (int r = 0; r < rows_of_thread; ++r)
#pragma unroll
      for (int e = 0; e < columns_of_thread; ++e) {
        Compute& begun = held_.begun[level - 1][sum][r][e][lag - plane];
        begun = fused(weight, held_.values[level - 1][s][r][e][newest_plane], begun);
      }
  }

 private:
  Held& held_;
};

}  // namespace
}  // namespace spsolve::cuda
