// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file reads and writes the data of single steps whose tiles are held in shared memory (box_step.cuh,
// star_step.cuh): it brings the input of a tile there with its ghost points, reads the source of a thread and
// writes its results.

#include "kernels/cuda/ptx/async_copy.cuh"
#include "kernels/cuda/scalar/scalar_types.cuh"
#include "kernels/cuda/scalar/walls.cuh"

namespace spsolve::cuda {

// Is true if there are no taps across rows, so that planes take the role of rows: a tile then consists of one
// row of several planes.
constexpr bool flat = constants::radius[row_axis] == 0;
constexpr int slow_axis = flat ? row_axis : plane_axis, tile_axis = flat ? plane_axis : row_axis;
constexpr int slow_radius = constants::radius[slow_axis], row_radius = constants::radius[tile_axis],
              column_radius = constants::radius[column_axis];
constexpr int block_threads = 32 * constants::warps;

/// Defines how shared memory holds a point: as stored in the field, or as an operand.
template <bool as_stored>
struct SharedPoint {
  using Type = In;
  static constexpr bool is_copied = true;
  static __device__ Type of(const In& stored) { return stored; }
  static __device__ Type of_ghost(Compute value) {
    Type held;
    store(held, value);
    return held;
  }
};
template <>
struct SharedPoint<false> {
  using Type = Compute;
  static constexpr bool is_copied = sizeof(In) == sizeof(Compute) && operands_are_stored<Stored>;
  static __device__ Type of(const In& stored) {
    return operand<Stored>(static_cast<Compute>(value_of(stored)));
  }
  static __device__ Type of_ghost(Compute value) { return value; }
};

/// Copies the input of `rows` x `columns` results of a plane to shared memory, 16 bytes (a chunk) at a time;
/// rows in memory begin and end with whole chunks. Shared memory has room for `number` tiles. If `together`
/// is not 0, 16 bytes of padding follow each `together` columns.
template <bool as_stored, int number, int rows, int columns, int together = 0>
class TileInput {
 public:
  using Type = typename SharedPoint<as_stored>::Type;
  static constexpr int chunk = 16 / sizeof(Type);
  // Rows of input begin and end with whole chunks; `margin` columns come before those of the results.
  static constexpr int margin = (column_radius + chunk - 1) / chunk * chunk;
  static constexpr int held_columns = columns + 2 * margin, held_rows = rows + 2 * row_radius;
  static constexpr int pitch = constants::pitch;  // row length in shared memory, in points

  static constexpr int tile_bytes = held_rows * pitch * static_cast<int>(sizeof(Type));
  static constexpr int turns = (tile_bytes / 16 + block_threads - 1) / block_threads;  // chunks per thread
  static constexpr int bytes = number * tile_bytes + turns * block_threads * 4;

  /// `row` and `column` are those of the first result; `memory` has `bytes` bytes. The constructor stores for
  /// each chunk of the thread where it is read from, since this is the same in every plane.
  __device__ TileInput(const ScalarArguments& a, long long row, long long column, unsigned char* memory)
      : a_(a),
        memory_(memory),
        chunk_positions_(reinterpret_cast<int*>(memory + number * tile_bytes) + threadIdx.x),
        first_(static_cast<const In*>(a.in.data) +
               (row - row_radius - a.in.begin[tile_axis]) * a.in.stride[tile_axis] +
               (column - margin - a.in.begin[column_axis])),
        rows_(a, row - row_radius, held_rows),
        columns_(a, column - margin, held_columns) {
#pragma unroll
    for (int turn = 0; turn < turns; ++turn) {
      const int at = chunk_of(turn) % (pitch / chunk);
      int row = chunk_of(turn) / (pitch / chunk);
      const bool free = together && at % (group + 1) == group;
      const int column = (together ? at - at / (group + 1) : at) * chunk;
      int& position = chunk_positions_[turn * block_threads];
      position = nowhere;
      if (free || !rows_.takes(row) || column + chunk <= columns_.begin || column >= columns_.end) continue;
      const bool high = row >= rows_.high;
      if (!rows_.find(row))
        position = high ? beyond_last_row : beyond_first_row;
      else if (walls_across_columns && (column + chunk <= columns_.low || column >= columns_.high))
        position = beyond_columns;
      else
        position = static_cast<int>((row * a.in.stride[tile_axis] + in_row(column)) / chunk);
    }
  }

  __device__ Type* tile(int k = 0) const { return reinterpret_cast<Type*>(memory_ + k * tile_bytes); }
  static __device__ constexpr int padded(int column) {
    return together ? column + column / (group * chunk) * chunk : column;
  }

  /// Starts the copies of a plane's tile as one group of every thread, and writes the ghost points except
  /// those beyond the ends of rows.
  __device__ void hold(Type* tile, long long slow) const {
    const bool high = slow >= a_.shape[slow_axis],
               there = find_source(slow_axis, slow, 0ll, a_.shape[slow_axis]);
    const In* const first = first_ + (slow - a_.in.begin[slow_axis]) * a_.in.stride[slow_axis];
    tile += threadIdx.x * chunk;
#pragma unroll
    for (int begin = 0; begin < turns; begin += at_once) {
      ElementVector<In, chunk> loaded[at_once];
      // All positions are read before the first copy, because the compiler must assume that a copy overwrites
      // them.
      int from_where[at_once];
#pragma unroll
      for (int turn = begin; turn < begin + at_once && turn < turns; ++turn)
        from_where[turn - begin] = chunk_positions_[turn * block_threads];
#pragma unroll
      for (int turn = begin; turn < begin + at_once && turn < turns; ++turn) {
        Type* const to = tile + turn * block_threads * chunk;
        const int from = from_where[turn - begin];
        if (is_position(from) && there) {
          if constexpr (SharedPoint<as_stored>::is_copied)
            copy_nth_16_bytes(to, first, from);
          else
            loaded[turn - begin] = *reinterpret_cast<const ElementVector<In, chunk>*>(
                first + static_cast<long long>(from) * chunk);
        } else if (has_walls && from != nowhere && !(there && from == beyond_columns)) {
          // The slowest axis decides the value of a ghost point.
          const Type ghost = SharedPoint<as_stored>::of_ghost(
              there ? ghost_value(a_, tile_axis, from == beyond_last_row) : ghost_value(a_, slow_axis, high));
          hold_chunk(to, [&](int) { return ghost; });
        }
      }
      if constexpr (!SharedPoint<as_stored>::is_copied) {
#pragma unroll
        for (int turn = begin; turn < begin + at_once && turn < turns; ++turn)
          if (is_position(from_where[turn - begin]) && there)
            hold_chunk(tile + turn * block_threads * chunk,
                       [&](int c) { return SharedPoint<as_stored>::of(loaded[turn - begin].element[c]); });
      }
    }
    if constexpr (SharedPoint<as_stored>::is_copied) commit_copies();
  }

  /// Writes the ghost points beyond the ends of rows of a tile that has arrived, from values inside it. All
  /// threads call it between two barriers.
  __device__ void complete(Type* tile, long long slow) const {
    if constexpr (walls_across_columns) {
      if (columns_.inside || !find_source(slow_axis, slow, 0ll, a_.shape[slow_axis])) return;
      constexpr int of_row = column_radius > 0 ? column_radius : 1;
      for (int k = threadIdx.x; k < held_rows * of_row; k += block_threads) {
        const int row = k / of_row, nth = k % of_row;
        int from_row = row;
        if (!rows_.takes(row) || !rows_.find(from_row)) continue;
        Type* const held_row = tile + row * pitch;
        const auto make = [&](int column, bool high) {
          int from = column;
          held_row[padded(column)] =
              columns_.find(from) ? held_row[padded(from)]
                                  : SharedPoint<as_stored>::of_ghost(ghost_value(a_, column_axis, high));
        };
        if (const int column = columns_.low - 1 - nth; column >= columns_.begin) make(column, false);
        if (const int column = columns_.high + nth; column < columns_.end) make(column, true);
      }
      __syncthreads();
    }
  }

 private:
  static constexpr int group = together / chunk, at_once = 6;
  // Lists markers that stand in place of a position. They are below all positions, which may lie one row
  // before the first that is held.
  enum From : int { nowhere = -(1 << 30) - 4, beyond_columns, beyond_first_row, beyond_last_row };
  static __device__ bool is_position(int from) { return from > beyond_last_row; }
  static constexpr bool walls_across_columns =
      column_radius > 0 && constants::walls[column_axis][0] != Wall::none;
  static constexpr bool has_walls = walls_across_columns || constants::walls[tile_axis][0] != Wall::none ||
                                    constants::walls[slow_axis][0] != Wall::none;

  /// Describes the range that a block holds along an axis, counted from its first point.
  template <int axis>
  struct HeldExtent {
    int begin, end;  // points that sums read
    int low, high;   // the grid, if the axis has walls or wraps
    bool inside;     // no ghost points among those that sums read

    __device__ HeldExtent(const ScalarArguments& a, long long first, int held) {
      constexpr long long far = 1 << 30;
      const long long radius = constants::radius[axis];
      begin = static_cast<int>(max(0ll, a.region.begin[axis] - radius - first));
      end = static_cast<int>(min(static_cast<long long>(held), a.region.end[axis] + radius - first));
      low = static_cast<int>(max(-first, -far));
      high = static_cast<int>(min(a.shape[axis] - first, far));
      inside = constants::walls[axis][0] == Wall::none || (begin >= low && end <= high);
    }
    __device__ bool takes(int p) const { return p >= begin && p < end; }
    /// Moves p to the point whose value it takes; returns false beyond a dirichlet face.
    __device__ bool find(int& p) const { return find_source(axis, p, low, high); }
  };

  /// Returns the column in memory of a chunk that begins with a column that sums read.
  __device__ int in_row(int column) const {
    if constexpr (wraps(column_axis)) columns_.find(column);
    return column;
  }
  static __device__ int chunk_of(int turn) { return static_cast<int>(threadIdx.x) + turn * block_threads; }

  template <class Element>
  __device__ static void hold_chunk(Type* to, const Element& element) {
    ElementVector<Type, chunk> held;
#pragma unroll
    for (int c = 0; c < chunk; ++c) held.element[c] = element(c);
    *reinterpret_cast<ElementVector<Type, chunk>*>(to) = held;
  }

  const ScalarArguments& a_;
  unsigned char* memory_;
  // Holds, for each chunk of the thread, its position in a plane, in chunks from the first one held, or a
  // From marker. In registers the table would spill.
  int* chunk_positions_;
  const In* first_;  // first held point in the first plane in memory
  HeldExtent<tile_axis> rows_;
  HeldExtent<column_axis> columns_;
};

/// Holds the results that a thread writes at once.
template <int columns>
using ResultVector = ElementVector<Out, 16 / sizeof(Out) < columns ? 16 / sizeof(Out) : columns>;

/// Writes neighbouring results; `to` is aligned for ResultVector.
template <int columns>
__device__ void store_columns(Out* to, const Compute (&sums)[columns]) {
  constexpr int together = sizeof(ResultVector<columns>) / sizeof(Out);
#pragma unroll
  for (int c = 0; c < columns; c += together) {
    ResultVector<columns> packed;
#pragma unroll
    for (int k = 0; k < together; ++k) store(packed.element[k], sums[c + k]);
    *reinterpret_cast<ResultVector<columns>*>(to + c) = packed;
  }
}

/// Describes the neighbouring results of a thread in a row.
struct RowResults {
  const ScalarArguments& a;
  long long slow, row, column;  // the first result

  template <class T>
  __device__ T* in(const View& view) const {
    return static_cast<T*>(view.data) + (slow - view.begin[slow_axis]) * view.stride[slow_axis] +
           (row - view.begin[tile_axis]) * view.stride[tile_axis] + (column - view.begin[column_axis]);
  }
  __device__ bool is_written() const { return is_written(slow_axis, slow) && is_written(tile_axis, row); }
  __device__ bool is_written(int axis, long long p) const {
    return p >= a.region.begin[axis] && p < a.region.end[axis];
  }

  /// Reads the source, with which sums begin, at the results that are written.
  template <int columns>
  __device__ void read_source(Compute (&sums)[columns]) const {
    if (!is_written()) return;
    const Compute* const from = in<const Compute>(a.source);
#pragma unroll
    for (int c = 0; c < columns; ++c)
      if (is_written(column_axis, column + c)) sums[c] = constants::source_factor * from[c];
  }

  /// Returns whether all columns lie in the region and begin where a vector may be written.
  template <int columns>
  __device__ bool is_whole() const {
    return column >= a.region.begin[column_axis] && column + columns <= a.region.end[column_axis] &&
           reinterpret_cast<unsigned long long>(in<Out>(a.out)) % sizeof(ResultVector<columns>) == 0;
  }

  /// Writes the results that lie in the region.
  template <int columns>
  __device__ void write(const Compute (&sums)[columns]) const {
    if (!is_written()) return;
    Out* const to = in<Out>(a.out);
    if (is_whole<columns>()) return store_columns(to, sums);
#pragma unroll
    for (int c = 0; c < columns; ++c)
      if (is_written(column_axis, column + c)) store(to[c], sums[c]);
  }
};

}  // namespace spsolve::cuda
