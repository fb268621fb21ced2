// SPDX-License-Identifier: Apache-2.0
// One time step of a stencil of many taps, in 2D and 3D: too many for the registers of a march. A block holds
// the input of a tile in shared memory, in 3D plane after plane; a thread has 64 bytes of columns of two
// neighbouring rows, whose sums share what is read. Ghosts are made while the tile is read.
//
// Per point: taps fused multiply-adds, in the order of march.cuh; one wavefront of shared memory for 14
// to 20 of them (fp64: 5 to 7), so bound by the issue slots of a multiprocessor.

#include "arguments.hpp"
#include "async_copy.cuh"
#include "constants.cuh"
#include "precision.cuh"
#include "walls.cuh"

extern __shared__ __align__(16) unsigned char memory[];

namespace spsolve::cuda {

using constants::Compute;
using constants::In;
using constants::Out;
using constants::Stored;

class BoxStep {
 public:
  __device__ explicit BoxStep(const Arguments& a)
      : a_(a),
        thread_row_(static_cast<int>(threadIdx.x) / lanes_x),
        slow_(a.region.begin[slow_axis] + static_cast<long long>(blockIdx.z) * own_planes),
        row_(a.region.begin[tile_axis] + static_cast<long long>(blockIdx.y) * rows),
        column_(a.first_column + static_cast<long long>(blockIdx.x) * columns),
        rows_(a, row_ - row_radius, held_rows),
        columns_(a, column_ - margin, held_columns) {}

  __device__ void run() {
    if constexpr (constants::with_source) read_source();
    // Planes further on, which a last plane beyond the region would take, need not be there.
    const int there = static_cast<int>(min(static_cast<long long>(planes + own_planes - 1),
                                           a_.region.end[slow_axis] + 2 * slow_radius - slow_));
    for (int n = 0; n < there; ++n) {
      if (n > 0) __syncthreads();
      hold(slow_ + n - slow_radius);
      __syncthreads();
      add_plane(n);
    }
#pragma unroll
    for (int plane = 0; plane < own_planes; ++plane)
#pragma unroll
      for (int row = 0; row < 2; ++row) write(plane, row);
  }

 private:
  // Without taps across rows of a plane, its place is taken by the planes of one row.
  static constexpr bool flat = constants::radius[row_axis] == 0;
  static constexpr int slow_axis = flat ? row_axis : plane_axis, tile_axis = flat ? plane_axis : row_axis;
  static constexpr int slow_radius = constants::radius[slow_axis], row_radius = constants::radius[tile_axis],
                       column_radius = constants::radius[column_axis];
  static constexpr int planes = 2 * slow_radius + 1, own_planes = constants::own_planes;
  static constexpr int lanes_x = constants::lanes_x, threads = 32 * constants::warps;
  static constexpr int chunk = 16 / sizeof(Compute), own_columns = 4 * chunk;  // of a thread
  static constexpr int columns = lanes_x * own_columns, rows = 2 * threads / lanes_x;
  // Columns of input begin and end with 16 bytes: `margin` before those of the results.
  static constexpr int margin = (column_radius + chunk - 1) / chunk * chunk;
  static constexpr int held_columns = columns + 2 * margin, held_rows = rows + 2 * row_radius;
  static constexpr int window_columns = own_columns + 2 * margin;
  static constexpr bool walls_across_columns = constants::walls[column_axis][0] != Wall::none;
  // Whether what is stored is what sums take.
  static constexpr bool copied = sizeof(In) == sizeof(Compute) && operands_are_stored<Stored>;

  /// Where a column lies in a row of shared memory: 16 bytes are left free after 64, so that the lanes that
  /// read together find their 16 bytes in different banks.
  static __device__ constexpr int place(int column) { return column + column / own_columns * chunk; }
  static __device__ Compute* place(int row, int column) { return held() + row * pitch + place(column); }

  /// What a block holds along an axis, counted from the first point of that.
  template <int axis>
  struct Extent {
    int begin, end;  // that sums take
    int low, high;   // of the grid, where it has walls
    bool inside;     // no ghosts among what sums take

    __device__ Extent(const Arguments& a, long long first, int held) {
      constexpr long long far = 1 << 30;
      const long long radius = constants::radius[axis];
      begin = static_cast<int>(max(0ll, a.region.begin[axis] - radius - first));
      end = static_cast<int>(min(static_cast<long long>(held), a.region.end[axis] + radius - first));
      low = static_cast<int>(max(-first, -far));
      high = static_cast<int>(min(a.shape[axis] - first, far));
      inside = constants::walls[axis][0] == Wall::none || (begin >= low && end <= high);
    }
    __device__ bool takes(int p) const { return p >= begin && p < end; }
    /// Takes p to where it has its value; false beyond a dirichlet face.
    __device__ bool find(int& p) const { return find_source(axis, p, low, high); }
    __device__ Compute ghost(const Arguments& a, int p) const { return ghost_value(a, axis, p >= high); }
  };

  /// Holds the tile of a plane.
  __device__ void hold(long long slow) const {
    const bool high = slow >= a_.shape[slow_axis],
               there = find_source(slow_axis, slow, 0ll, a_.shape[slow_axis]);
    const In* const first = static_cast<const In*>(a_.in.data) +
                            (slow - a_.in.begin[slow_axis]) * a_.in.stride[slow_axis] +
                            (row_ - row_radius - a_.in.begin[tile_axis]) * a_.in.stride[tile_axis] +
                            (column_ - margin - a_.in.begin[column_axis]);
    if (there && rows_.inside && columns_.inside)
      hold<false>(first, true, Compute());
    else
      hold<true>(first, there, ghost_value(a_, slow_axis, high));
  }

  /// From `first` in memory on, 16 bytes of operands at a time: rows in memory begin and end with such.
  /// Beyond a dirichlet face of the slow axis nothing is there.
  template <bool ghosts>
  __device__ void hold(const In* first, bool there, Compute ghost_of_slow) const {
    constexpr int chunks = held_columns / chunk, at_once = 4;
    // Columns of the chunks that lie in the grid.
    const int low = ghosts && walls_across_columns ? max(0, columns_.low + chunk - 1) / chunk * chunk : 0,
              high = ghosts && walls_across_columns ? max(low, columns_.high / chunk * chunk) : held_columns;
    for (int begin = threadIdx.x; begin < held_rows * chunks; begin += at_once * threads) {
      Pack<In, chunk> loaded[at_once];
      bool whole[at_once];
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const int row = (begin + k * threads) / chunks, column = (begin + k * threads) % chunks * chunk;
        const bool taken = rows_.takes(row) && column + chunk > columns_.begin && column < columns_.end;
        int from_row = row;
        const bool in_row = !ghosts || rows_.find(from_row);
        whole[k] = taken && there && in_row && column >= low && column < high;
        if (ghosts && taken && !(there && in_row)) {  // the slowest axis decides
          const Compute ghost = there ? rows_.ghost(a_, row) : ghost_of_slow;
          hold_chunk(row, column, [&](int) { return ghost; });
        }
        if (!whole[k]) continue;
        const In* const from = first + from_row * a_.in.stride[tile_axis] + column;
        if constexpr (copied)
          copy_16_bytes(place(row, column), from);
        else
          loaded[k] = *reinterpret_cast<const Pack<In, chunk>*>(from);
      }
      if constexpr (!copied) {
#pragma unroll
        for (int k = 0; k < at_once; ++k)
          if (whole[k])
            hold_chunk((begin + k * threads) / chunks, (begin + k * threads) % chunks * chunk,
                       [&](int c) { return operand_of(loaded[k].element[c]); });
      }
    }
    if (ghosts && walls_across_columns && there) hold_ends_of_rows(first, low, high);
    if constexpr (copied) {
      commit_copies();
      wait_for_copies<0>();
    }
  }

  /// Columns before `low` and from `high` on, point by point, of rows that are not ghosts.
  __device__ void hold_ends_of_rows(const In* first, int low, int high) const {
    constexpr int at_once = 8;
    const int before = max(0, low - columns_.begin), of_row = before + max(0, columns_.end - high);
    for (int begin = threadIdx.x; begin < held_rows * of_row; begin += at_once * threads) {
      Compute values[at_once];
      int places[at_once];
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        int row = (begin + k * threads) / of_row;
        const int end = (begin + k * threads) % of_row;
        int column = end < before ? columns_.begin + end : high + end - before;
        places[k] = rows_.takes(row) ? row * pitch + place(column) : -1;
        if (!rows_.find(row)) places[k] = -1;
        values[k] = columns_.ghost(a_, column);
        if (columns_.find(column) && places[k] >= 0)
          values[k] = operand_of(first[row * a_.in.stride[tile_axis] + column]);
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k)
        if (places[k] >= 0) held()[places[k]] = values[k];
    }
  }

  template <class Element>
  __device__ static void hold_chunk(int row, int column, const Element& element) {
    Pack<Compute, chunk> operands;
#pragma unroll
    for (int c = 0; c < chunk; ++c) operands.element[c] = element(c);
    *reinterpret_cast<Pack<Compute, chunk>*>(place(row, column)) = operands;
  }
  __device__ static Compute operand_of(const In& stored) {
    return operand<Stored>(static_cast<Compute>(value_of(stored)));
  }

  /// Adds to the sums what plane n of those that are held contributes. The rows of a thread share all that
  /// they read but the first row and the last.
  __device__ void add_plane(int n) {
    const Compute* from =
        held() + 2 * thread_row_ * pitch + static_cast<int>(threadIdx.x) % lanes_x * (own_columns + chunk);
    add_row<true, false>(from, n, 0);
#pragma unroll 1
    for (int row = 1; row <= 2 * row_radius; ++row) add_row<true, true>(from += pitch, n, row);
    add_row<false, true>(from + pitch, n, 2 * row_radius + 1);
  }

  /// The same of one row, which is there for either row of results, or for one.
  template <bool first, bool second>
  __device__ void add_row(const Compute* from, int n, int row) {
    Compute window[window_columns];
#pragma unroll
    for (int k = 0; k < window_columns; k += chunk) {
      const auto loaded = *reinterpret_cast<const Pack<Compute, chunk>*>(from + place(k));
#pragma unroll
      for (int i = 0; i < chunk; ++i) window[k + i] = loaded.element[i];
    }
#pragma unroll
    for (int plane = 0; plane < own_planes; ++plane) {
      if (own_planes > 1 && (n < plane || n - plane >= planes)) continue;
      const auto& weights = constants::weights[n - plane];
#pragma unroll
      for (int k = 0; k <= 2 * column_radius; ++k) {
        const Compute* const points = window + margin - column_radius + k;
        if constexpr (first) add_tap(sums_[plane][0], weights[row][k], points);
        if constexpr (second) add_tap(sums_[plane][1], weights[row - 1][k], points);
      }
    }
  }

  /// Weights of zero are no taps.
  static __device__ void add_tap(Compute (&sums)[own_columns], Compute weight, const Compute* points) {
    if (!constants::all_taps && weight == Compute(0)) return;
#pragma unroll
    for (int c = 0; c < own_columns; ++c) sums[c] = fused(weight, points[c], sums[c]);
  }

  /// The coordinates of the thread's results.
  __device__ long long own_plane(int i) const { return slow_ + i; }
  __device__ long long own_row(int i) const { return row_ + 2 * thread_row_ + i; }
  __device__ long long own_column() const {
    return column_ + static_cast<int>(threadIdx.x) % lanes_x * own_columns;
  }
  __device__ bool is_written(int axis, long long p) const {
    return p >= a_.region.begin[axis] && p < a_.region.end[axis];
  }
  __device__ bool is_written(int plane, int row) const {
    return is_written(slow_axis, own_plane(plane)) && is_written(tile_axis, own_row(row));
  }
  template <class T>
  __device__ T* own(const View& view, int plane, int row) const {
    return static_cast<T*>(view.data) + (own_plane(plane) - view.begin[slow_axis]) * view.stride[slow_axis] +
           (own_row(row) - view.begin[tile_axis]) * view.stride[tile_axis] +
           (own_column() - view.begin[column_axis]);
  }

  __device__ void read_source() {
#pragma unroll
    for (int plane = 0; plane < own_planes; ++plane)
#pragma unroll
      for (int row = 0; row < 2; ++row) {
        if (!is_written(plane, row)) continue;
        const Compute* const from = own<const Compute>(a_.source, plane, row);
#pragma unroll
        for (int c = 0; c < own_columns; ++c)
          if (is_written(column_axis, own_column() + c)) sums_[plane][row][c] = from[c];
      }
  }

  __device__ void write(int plane, int row) const {
    if (!is_written(plane, row)) return;
    const auto& sums = sums_[plane][row];
    Out* const to = own<Out>(a_.out, plane, row);
    constexpr int together = 16 / sizeof(Out) < own_columns ? 16 / sizeof(Out) : own_columns;
    if (own_column() >= a_.region.begin[column_axis] &&
        own_column() + own_columns <= a_.region.end[column_axis] &&
        reinterpret_cast<unsigned long long>(to) % 16 == 0) {
#pragma unroll
      for (int c = 0; c < own_columns; c += together) {
        Pack<Out, together> packed;
#pragma unroll
        for (int k = 0; k < together; ++k) store(packed.element[k], sums[c + k]);
        *reinterpret_cast<Pack<Out, together>*>(to + c) = packed;
      }
      return;
    }
#pragma unroll
    for (int c = 0; c < own_columns; ++c)
      if (is_written(column_axis, own_column() + c)) store(to[c], sums[c]);
  }

  static __device__ Compute* held() { return reinterpret_cast<Compute*>(memory); }

  static constexpr int pitch = constants::pitch;

  const Arguments& a_;
  int thread_row_;
  long long slow_, row_, column_;  // of the first result of the block
  Extent<tile_axis> rows_;         // that the block holds
  Extent<column_axis> columns_;
  Compute sums_[own_planes][2][own_columns]{};
};

}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(32 * spsolve::cuda::constants::warps,
                                             spsolve::cuda::constants::blocks_per_multiprocessor)
    box_step(const __grid_constant__ spsolve::cuda::Arguments a) {
  spsolve::cuda::BoxStep(a).run();
}
