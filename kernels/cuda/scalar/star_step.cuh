// SPDX-License-Identifier: Apache-2.0
// One time step of a stencil of few taps that reach far, in 2D and 3D: stars of a radius for which a march
// has no registers. Planes of a tile stream through shared memory, several on their way, and what is known of
// the planes ahead is kept in registers (2.5D blocking): a plane extends the sums of all planes that reach
// it. A thread has 16 bytes of columns (of 16-bit formats 8 where planes have taps) of one to eight rows.
//
// Per point and launch: one read and one write of memory, with a source one read more, and what tiles and
// stretches of planes read twice. Per point taps fused multiply-adds, in the order of march.cuh.

#include "kernels/cuda/scalar/tile_io.cuh"

extern __shared__ __align__(16) unsigned char memory[];

namespace spsolve::cuda {

class StarStep {
 public:
  __device__ explicit StarStep(const Arguments& a)
      : a_(a),
        begin_(a.region.begin[slow_axis] + static_cast<long long>(blockIdx.z) * a.tile_planes),
        row_(a.region.begin[tile_axis] + static_cast<long long>(blockIdx.y) * rows),
        column_(a.first_column + static_cast<long long>(blockIdx.x) * columns),
        thread_row_(static_cast<int>(threadIdx.x) / lanes_x * own_rows),
        thread_column_(static_cast<int>(threadIdx.x) % lanes_x * own_columns),
        input_(a, row_, column_, memory),
        whole_(RowPlace{a, begin_, row_ + thread_row_, column_ + thread_column_}.is_whole<own_columns>() &&
               row_ + thread_row_ + own_rows <= a.region.end[tile_axis]) {}

  __device__ void run() {
    const long long left = a_.region.end[slow_axis] - begin_;
    const int held_planes =
        static_cast<int>(min(static_cast<long long>(a_.tile_planes), left)) + 2 * slow_radius;
    for (int n = 0; n < ahead; ++n) fetch(n, held_planes);
    if constexpr (constants::with_source) read_source(begin_);
    int stage = 0;
#pragma unroll 1
    for (int n = 0; n < held_planes; ++n) {
      if constexpr (ahead == 0) {
        if (n > 0) __syncthreads();
        fetch(n, held_planes);
      }
      wait_for_copies<ahead == 0 ? 0 : ahead - 1>();
      __syncthreads();  // and no thread reads the plane before any more
      if constexpr (ahead > 0) fetch(n + ahead, held_planes);
      input_.complete(input_.tile(stage), begin_ + n - slow_radius);
      advance_sums();
      if (constants::with_source && n + 1 + 2 * slow_radius < held_planes) read_source(begin_ + n + 1);
      const In* const window = input_.tile(stage) + thread_row_ * Input::pitch + thread_column_;
      if (n >= slow_radius && n < held_planes - slow_radius)
        add_plane<true>(window);
      else
        add_plane<false>(window);
      if (n >= 2 * slow_radius) write(begin_ + n - 2 * slow_radius);
      stage = stage + 1 == stages ? 0 : stage + 1;
    }
  }

 private:
  static constexpr int lanes_x = constants::lanes_x, own_rows = constants::own_rows;
  static constexpr int stages = constants::stages, ahead = stages - 1;
  static constexpr int own_columns = constants::own_columns;
  static constexpr int columns = lanes_x * own_columns, rows = block_threads / lanes_x * own_rows;
  using Input = TileInput<true, stages, rows, columns>;
  static constexpr int margin = Input::margin, window_rows = own_rows + 2 * row_radius;
  static_assert(Input::bytes <= constants::shared_bytes, "the host must ask for this much");

  /// Sends for the n-th of the planes that are held, if there is one.
  __device__ void fetch(int n, int held_planes) {
    if (n < held_planes)
      input_.hold(input_.tile(fetched_), begin_ + n - slow_radius);
    else
      commit_copies();  // groups are counted, also of no copies
    fetched_ = fetched_ + 1 == stages ? 0 : fetched_ + 1;
  }

  /// The sums of the planes from n - slow_radius to n + slow_radius follow those of plane n - 1.
  __device__ void advance_sums() {
#pragma unroll
    for (int plane = 0; plane <= 2 * slow_radius; ++plane)
#pragma unroll
      for (int row = 0; row < own_rows; ++row)
#pragma unroll
        for (int c = 0; c < own_columns; ++c)
          sums_[plane][row][c] = plane < 2 * slow_radius  ? sums_[plane + 1][row][c]
                                 : constants::with_source ? source_[row][c]
                                                          : Compute();
  }

  /// What the sums of a plane begin with, one plane before they do.
  __device__ void read_source(long long slow) {
    for_each_row(slow, [&](const RowPlace& place, int row) { place.read_source(source_[row]); });
  }

  /// Whether a tap takes from a row of the window, counted from that of the sum's first tap. Sums of planes
  /// beside those of the block's results are written by nobody.
  static constexpr bool is_added(const Tap& tap, int row, bool of_results) {
    return tap.offset[tile_axis] == row - row_radius && (of_results || tap.offset[slow_axis] != 0);
  }

  /// Columns [begin, end) of a row of the window, counted from the thread's first.
  struct Columns {
    int begin = 0, end = 0;
  };
  static constexpr Columns reached(int window_row, bool of_results) {
    Columns of;
    for (int own = 0; own < own_rows; ++own)
      for (const Tap& tap : constants::taps) {
        if (!is_added(tap, window_row - own, of_results)) continue;
        const int begin = tap.offset[column_axis], end = begin + own_columns;
        if (of.begin == of.end) of = {begin, end};
        of.begin = begin < of.begin ? begin : of.begin;
        of.end = end > of.end ? end : of.end;
      }
    return of;
  }

  /// Adds what a plane, of results of the block or beside them, contributes to the sums, from the first point
  /// of the thread's window on.
  template <bool of_results>
  __device__ void add_plane(const In* window) {
    static_for<0, window_rows>(
        [&](auto row) { add_row<row.value, of_results>(window + row.value * Input::pitch); });
  }

  template <int window_row, bool of_results>
  __device__ void add_row(const In* from) {
    constexpr Columns taken = reached(window_row, of_results);
    constexpr int first = (taken.begin + margin) / own_columns * own_columns;
    Compute points[own_columns + 2 * margin];
#pragma unroll
    for (int k = first; k < taken.end + margin; k += own_columns) {
      const auto loaded = *reinterpret_cast<const Pack<In, own_columns>*>(from + k);
#pragma unroll
      for (int c = 0; c < own_columns; ++c) points[k + c] = Held<false>::of(loaded.element[c]);
    }
#pragma unroll
    for (int own = 0; own < own_rows; ++own)
#pragma unroll
      for (int k = 0; k < constants::tap_count; ++k) {
        const Tap& tap = constants::taps[k];
        if (!is_added(tap, window_row - own, of_results)) continue;
#pragma unroll
        for (int c = 0; c < own_columns; ++c) {
          Compute& sum = sums_[slow_radius - tap.offset[slow_axis]][own][c];
          sum = fused(static_cast<Compute>(tap.weight), points[margin + tap.offset[column_axis] + c], sum);
        }
      }
  }

  __device__ void write(long long slow) {
    Out* const to = RowPlace{a_, slow, row_ + thread_row_, column_ + thread_column_}.in<Out>(a_.out);
    if (whole_) {
#pragma unroll
      for (int row = 0; row < own_rows; ++row)
        store_columns(to + row * a_.out.stride[tile_axis], sums_[0][row]);
    } else {
      for_each_row(slow, [&](const RowPlace& place, int row) { place.write(sums_[0][row]); });
    }
  }

  template <class Body>
  __device__ void for_each_row(long long slow, Body&& body) {
#pragma unroll
    for (int row = 0; row < own_rows; ++row)
      body(RowPlace{a_, slow, row_ + thread_row_ + row, column_ + thread_column_}, row);
  }

  const Arguments& a_;
  long long begin_, row_, column_;  // of the first result of the block
  int thread_row_, thread_column_;  // of the first of the thread, from there
  Input input_;
  bool whole_;       // the thread writes all its rows, by whole vectors
  int fetched_ = 0;  // the stage that is fetched next
  Compute sums_[2 * slow_radius + 1][own_rows][own_columns]{};  // of planes, the first is done next
  Compute source_[own_rows][own_columns]{};                     // of the plane whose sums begin next
};

}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(32 * spsolve::cuda::constants::warps,
                                             spsolve::cuda::constants::blocks_per_multiprocessor)
    star_step(const __grid_constant__ spsolve::cuda::Arguments a) {
  spsolve::cuda::StarStep(a).run();
}
