// SPDX-License-Identifier: Apache-2.0
// This kernel takes small-grid steps: several time steps of a 2D grid in one launch, for grids and slabs
// beside walls that are too small for march.cuh, where each plane waits for the plane before.
//
// A block holds a tile of the grid, with everything within reach of its results, in shared memory, twice (now
// and next), and takes the steps one after the other with all of its threads. Thread x is a column of the
// tile (`stride` threads side by side); threads of the same column take groups of planes_per_thread
// neighbouring planes in turn, so that their sums share what they read. Registers hold only these sums.
//
// Barriers: one block barrier per step, and one before results are written.
//
// Tiles overlap; points that two blocks compute are the price. Reflections beyond neumann faces are advanced
// like the points that they mirror. The kernel is bound by shared memory.

#include "kernels/cuda/scalar/step_taps.cuh"

extern __shared__ __align__(16) unsigned char memory[];

namespace spsolve::cuda {

constexpr int planes_per_thread =
    planes_of_thread(constants::tap_count * (constants::folded[column_axis] ? 2 : 1));

/// Describes the range of a tile along one axis. Points are counted from the first one held.
struct TileAxis {
  long long first;  // coordinate of the first point in the grid
  int held;
  int begin, end;  // points that are written
  int low, high;   // points between the faces

  __device__ TileAxis(const ScalarArguments& a, int axis, long long tile, long long points) {
    const long long radius = constants::radius[axis], reach = a.steps * radius, n = a.shape[axis],
                    from = a.region.begin[axis] + tile * points, to = min(from + points, a.region.end[axis]);
    const bool periodic = constants::walls[axis][0] == Wall::none;
    first = periodic ? from - reach : max(from - reach, -radius);
    const long long last = periodic ? to + reach : min(to + reach, n + radius);
    held = static_cast<int>(last - first);
    begin = static_cast<int>(from - first);
    end = static_cast<int>(to - first);
    low = periodic ? 0 : static_cast<int>(max(-first, 0ll));
    high = periodic ? held : static_cast<int>(min(n - first, last - first));
  }
};

/// Calls put(y, value(y)) for the planes of a thread in its column, among planes from `from` to `to`. value()
/// may also be called for up to planes_per_thread - 1 planes beyond `to`.
template <int thread_rows, class Value, class Put>
__device__ void for_each_plane(int thread_row, int from, int to, Value&& value, Put&& put) {
  for (int y = from + planes_per_thread * thread_row; y < to; y += planes_per_thread * thread_rows) {
    Compute values[planes_per_thread];
#pragma unroll
    for (int k = 0; k < planes_per_thread; ++k) values[k] = value(y + k);
#pragma unroll
    for (int k = 0; k < planes_per_thread; ++k)
      if (y + k < to) put(y + k, values[k]);
  }
}

/// `stride` is the distance of planes in shared memory and the number of threads per plane.
template <int stride>
__device__ void take_steps(const ScalarArguments& a) {
  constexpr int thread_rows = small_grid_threads / stride;
  const TileAxis planes(a, plane_axis, blockIdx.y, a.tile_planes),
      columns(a, column_axis, blockIdx.x, a.tile_columns);
  const int x = threadIdx.x % stride, row = threadIdx.x / stride;
  int x_source = x;
  const bool in_face = !find_source(column_axis, x_source, columns.low, columns.high);
  Compute *now = reinterpret_cast<Compute*>(memory) + x,
          *next = now + (planes.held + planes_per_thread - 1) * stride;

  const auto offset = [&](const View& view, int y, int column) {
    return (planes.first + y - view.begin[plane_axis]) * view.stride[plane_axis] +
           (columns.first + column - view.begin[column_axis]);
  };
  const bool any_ghosts = planes.low > 0 || planes.high < planes.held;
  const auto for_each_ghost_plane = [&](int from, int to, auto&& body) {
    if (!any_ghosts) return;
    for (int y = from + row; y < min(to, planes.low); y += thread_rows) body(y);
    for (int y = max(from, planes.high) + row; y < to; y += thread_rows) body(y);
  };

  if (x < columns.held) {
    const auto read = [&](int y) {
      if (in_face) return ghost_value(a, column_axis, x_source >= columns.high);
      return operand<Stored>(static_cast<Compute>(
          value_of(static_cast<const In*>(a.in.data)[offset(a.in, min(y, planes.high - 1), x_source)])));
    };
    const auto put = [&](int y, Compute value) { now[y * stride] = next[y * stride] = value; };
    for_each_plane<thread_rows>(row, planes.low, planes.high, read, put);
    for_each_ghost_plane(0, planes.held, [&](int y) {
      int source = y;
      const bool inside = find_source(plane_axis, source, planes.low, planes.high);
      put(y, inside ? read(source) : ghost_value(a, plane_axis, y >= planes.high));
    });
  }
  // `beyond` is the distance of this thread's column from the results.
  const int beyond = in_face || x >= columns.held ? 1 << 30 : max(columns.begin - x, x - columns.end + 1);
  for (int left = a.steps - 1; left >= 0; --left) {
    __syncthreads();
    if (beyond <= left * constants::radius[column_axis]) {
      const int from = planes.begin - left * constants::radius[plane_axis],
                to = planes.end + left * constants::radius[plane_axis];
      const auto step = [&](int y) {
        const Compute* const here = now + y * stride + (x_source - x);
        const Compute source =
            constants::with_source
                ? constants::source_factor *
                      static_cast<const Compute*>(
                          a.source.data)[offset(a.source, min(y, min(to, planes.high) - 1), x_source)]
                : Compute();
        const Compute result = add_taps<constants::taps_to_unroll>(
            source, [&](int plane, int, int column) { return here[plane * stride + column]; });
        return left ? operand<Stored>(result) : result;
      };
      const auto put = [&](int y, Compute value) { next[y * stride] = value; };
      for_each_plane<thread_rows>(row, max(from, planes.low), min(to, planes.high), step, put);
      for_each_ghost_plane(max(from, 0), min(to, planes.held), [&](int y) {
        int source = y;
        if (find_source(plane_axis, source, planes.low, planes.high)) put(y, step(source));
      });
    }
    Compute* const results = next;
    next = now;
    now = results;
  }
  __syncthreads();
  if (beyond <= 0)
    for (int y = planes.begin + row; y < planes.end; y += thread_rows)
      store(static_cast<Out*>(a.out.data)[offset(a.out, y, x)], now[y * stride]);
}

}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(spsolve::cuda::small_grid_threads)
    steps_32(const __grid_constant__ spsolve::cuda::ScalarArguments a) {
  spsolve::cuda::take_steps<32>(a);
}
extern "C" __global__ void __launch_bounds__(spsolve::cuda::small_grid_threads)
    steps_64(const __grid_constant__ spsolve::cuda::ScalarArguments a) {
  spsolve::cuda::take_steps<64>(a);
}
extern "C" __global__ void __launch_bounds__(spsolve::cuda::small_grid_threads)
    steps_128(const __grid_constant__ spsolve::cuda::ScalarArguments a) {
  spsolve::cuda::take_steps<128>(a);
}
