// SPDX-License-Identifier: Apache-2.0
// This kernel takes a streaming step: one time step of a stencil of few taps that reach far, in 2D and 3D,
// such as stars whose radius is too large for the registers of a march (2.5D blocking).
//
// Blocks, warps, lanes. A block streams through tile_planes planes of one tile. A warp has lanes_x lanes
// along x, its other lanes are rows. A thread computes own_columns columns (16 bytes; 8 bytes of 16-bit
// formats if planes have taps) of own_rows = 1 to 8 neighbouring rows.
//
// Registers hold the sums of the 2 * slow_radius + 1 planes that the current plane reaches: each plane
// extends the sums of all planes within reach. Shared memory holds `stages` planes of input with their halo;
// a stage is one plane as stored in the field, and stages - 1 planes are in flight. Each plane has one block
// barrier, after which the plane before may be overwritten, and a second one where ghost points are written
// into the tile.
//
// Cost per point and launch: one read and one write of memory, one more read with a source, the overlap of
// tiles and of stretches of planes, and one fused multiply-add per tap, in the order of march.cuh.

#include "kernels/cuda/scalar/tile_io.cuh"

extern __shared__ __align__(16) unsigned char memory[];

namespace spsolve::cuda {

/// Takes the step of one thread block.
class StarStep {
 public:
  __device__ explicit StarStep(const ScalarArguments& a)
      : a_(a),
        begin_(a.region.begin[slow_axis] + static_cast<long long>(blockIdx.z) * a.tile_planes),
        row_(a.region.begin[tile_axis] + static_cast<long long>(blockIdx.y) * rows),
        column_(a.first_column + static_cast<long long>(blockIdx.x) * columns),
        thread_row_(static_cast<int>(threadIdx.x) / lanes_x * own_rows),
        thread_column_(static_cast<int>(threadIdx.x) % lanes_x * own_columns),
        input_(a, row_, column_, memory),
        whole_(RowResults{a, begin_, row_ + thread_row_, column_ + thread_column_}.is_whole<own_columns>() &&
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
      __syncthreads();  // the plane before is free now
      if constexpr (ahead > 0) fetch(n + ahead, held_planes);
      input_.complete(input_.tile(stage), begin_ + n - slow_radius);
      advance_sums();
      if (constants::with_source && n + 1 + 2 * slow_radius < held_planes) read_source(begin_ + n + 1);
      const In* const window = input_.tile(stage) + thread_row_ * StoredInput::pitch + thread_column_;
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
  using StoredInput = TileInput<true, stages, rows, columns>;
  static constexpr int margin = StoredInput::margin, window_rows = own_rows + 2 * row_radius;
  static_assert(StoredInput::bytes <= constants::shared_bytes, "the host must ask for this much");

  /// Starts the copy of the n-th held plane, if there is one.
  __device__ void fetch(int n, int held_planes) {
    if (n < held_planes)
      input_.hold(input_.tile(fetched_), begin_ + n - slow_radius);
    else
      commit_copies();  // groups are counted, empty ones included
    fetched_ = fetched_ + 1 == stages ? 0 : fetched_ + 1;
  }

  /// Shifts the sums by one plane, to those of the planes from n - slow_radius to n + slow_radius, and starts
  /// the last one.
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

  /// Reads the source, with which the sums of a plane begin, one plane ahead.
  __device__ void read_source(long long slow) {
    for_each_row(slow, [&](const RowResults& results, int row) { results.read_source(source_[row]); });
  }

  /// Returns whether a tap reads a row of the window, counted from the row of the sum's first tap. Planes
  /// beside the block's results have no sums of their own that are written, so taps within their plane are
  /// skipped.
  static constexpr bool is_added(const KernelTap& tap, int row, bool of_results) {
    return tap.offset[tile_axis] == row - row_radius && (of_results || tap.offset[slow_axis] != 0);
  }

  /// Holds the columns [begin, end) of a row of the window, counted from the thread's first.
  struct Columns {
    int begin = 0, end = 0;
  };
  static constexpr Columns reached(int window_row, bool of_results) {
    Columns of;
    for (int own = 0; own < own_rows; ++own)
      for (const KernelTap& tap : constants::taps) {
        if (!is_added(tap, window_row - own, of_results)) continue;
        const int begin = tap.offset[column_axis], end = begin + own_columns;
        if (of.begin == of.end) of = {begin, end};
        of.begin = begin < of.begin ? begin : of.begin;
        of.end = end > of.end ? end : of.end;
      }
    return of;
  }

  /// Adds a plane to the sums. `of_results` is true if the plane is one of the block's results, not beside
  /// them. `window` is the first point of the thread's window.
  template <bool of_results>
  __device__ void add_plane(const In* window) {
    static_for<0, window_rows>(
        [&](auto row) { add_row<row.value, of_results>(window + row.value * StoredInput::pitch); });
  }

  template <int window_row, bool of_results>
  __device__ void add_row(const In* from) {
    constexpr Columns taken = reached(window_row, of_results);
    constexpr int first = (taken.begin + margin) / own_columns * own_columns;
    Compute points[own_columns + 2 * margin];
#pragma unroll
    for (int k = first; k < taken.end + margin; k += own_columns) {
      const auto loaded = *reinterpret_cast<const ElementVector<In, own_columns>*>(from + k);
#pragma unroll
      for (int c = 0; c < own_columns; ++c) points[k + c] = SharedPoint<false>::of(loaded.element[c]);
    }
#pragma unroll
    for (int own = 0; own < own_rows; ++own)
#pragma unroll
      for (int k = 0; k < constants::tap_count; ++k) {
        const KernelTap& tap = constants::taps[k];
        if (!is_added(tap, window_row - own, of_results)) continue;
#pragma unroll
        for (int c = 0; c < own_columns; ++c) {
          Compute& sum = sums_[slow_radius - tap.offset[slow_axis]][own][c];
          sum = fused(static_cast<Compute>(tap.weight), points[margin + tap.offset[column_axis] + c], sum);
        }
      }
  }

  __device__ void write(long long slow) {
    Out* const to = RowResults{a_, slow, row_ + thread_row_, column_ + thread_column_}.in<Out>(a_.out);
    if (whole_) {
#pragma unroll
      for (int row = 0; row < own_rows; ++row)
        store_columns(to + row * a_.out.stride[tile_axis], sums_[0][row]);
    } else {
      for_each_row(slow, [&](const RowResults& results, int row) { results.write(sums_[0][row]); });
    }
  }

  template <class Body>
  __device__ void for_each_row(long long slow, Body&& body) {
#pragma unroll
    for (int row = 0; row < own_rows; ++row)
      body(RowResults{a_, slow, row_ + thread_row_ + row, column_ + thread_column_}, row);
  }

  const ScalarArguments& a_;
  long long begin_, row_, column_;  // the block's first result
  int thread_row_, thread_column_;  // the thread's first result, from there
  StoredInput input_;
  bool whole_;       // the thread writes all its rows by whole vectors
  int fetched_ = 0;  // stage to fill next
  Compute sums_[2 * slow_radius + 1][own_rows][own_columns]{};  // sums of planes; the first is complete next
  Compute source_[own_rows][own_columns]{};                     // source of the plane whose sums start next
};

}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(32 * spsolve::cuda::constants::warps,
                                             spsolve::cuda::constants::blocks_per_multiprocessor)
    star_step(const __grid_constant__ spsolve::cuda::ScalarArguments a) {
  spsolve::cuda::StarStep(a).run();
}
