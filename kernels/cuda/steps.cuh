// SPDX-License-Identifier: Apache-2.0
// Several time steps of a grid without rows (1D, 2D) in one launch: a block holds a tile in shared memory,
// with what lies within its reach, and takes the steps one after the other, all of its threads at once. For
// grids and slabs beside walls that are too small for march.cuh, where a plane waits for the one before.
// Tiles overlap: what blocks compute twice is the price. Images beyond neumann faces take the steps of the
// points that they mirror.

#include "step_taps.cuh"

extern __shared__ __align__(16) unsigned char memory[];

namespace spsolve::cuda {

/// One axis of a tile. Points are counted from the first that is held.
struct Extent {
  long long first;  // its coordinate in the grid
  int held;
  int begin, end;  // results
  int low, high;   // the grid, as far as it matters
  int radius;

  __device__ Extent(const Arguments& a, int axis, long long tile, long long points)
      : radius(constants::radius[axis]) {
    const long long n = a.shape[axis], from = a.region.begin[axis] + tile * points,
                    to = min(from + points, a.region.end[axis]), reach = a.steps * radius;
    const bool periodic = constants::walls[axis][0] == Wall::none;
    first = periodic ? from - reach : max(from - reach, -static_cast<long long>(radius));
    const long long last = periodic ? to + reach : min(to + reach, n + radius);
    held = static_cast<int>(last - first);
    begin = static_cast<int>(from - first);
    end = static_cast<int>(to - first);
    low = static_cast<int>(max(-first, -(1ll << 28)));
    high = static_cast<int>(min(n - first, 1ll << 28));
  }

  /// The points that results after `left` more steps need.
  __device__ int needed_from(int left) const { return max(begin - left * radius, 0); }
  __device__ int needed_to(int left) const { return min(end + left * radius, held); }
};

}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(1024) steps(const __grid_constant__ spsolve::cuda::Arguments a) {
  using namespace spsolve::cuda;
  const Extent planes(a, plane_axis, blockIdx.y, a.tile_planes),
      columns(a, column_axis, blockIdx.x, a.tile_columns);
  const int stride = a.tile_columns + 2 * a.steps * columns.radius;  // of planes, and threads of one
  const int x = threadIdx.x % stride, first_y = threadIdx.x / stride, y_step = blockDim.x / stride;
  int x_source = x;
  const bool x_moves = find_source(column_axis, x_source, columns.low, columns.high);

  Compute *now = reinterpret_cast<Compute*>(memory), *next = now + planes.held * stride;
  const In* const in = static_cast<const In*>(a.in.data) +
                       (planes.first - a.in.begin[plane_axis]) * a.in.stride[plane_axis] +
                       (columns.first - a.in.begin[column_axis]);
  if (x < columns.held)
    for (int y = first_y; y < planes.held; y += y_step) {
      int y_source = y;
      Compute value;
      if (!find_source(plane_axis, y_source, planes.low, planes.high))
        value = ghost_value(a, plane_axis, y_source >= planes.high);
      else if (!x_moves)
        value = ghost_value(a, column_axis, x_source >= columns.high);
      else
        value = static_cast<Compute>(value_of(in[y_source * a.in.stride[plane_axis] + x_source]));
      now[y * stride + x] = next[y * stride + x] = value;
    }
  for (int left = a.steps - 1; left >= 0; --left) {
    __syncthreads();
    if (x_moves && x >= columns.needed_from(left) && x < columns.needed_to(left))
      for (int y = planes.needed_from(left) + first_y; y < planes.needed_to(left); y += y_step) {
        int y_source = y;
        if (!find_source(plane_axis, y_source, planes.low, planes.high)) continue;
        const auto offset = [&](const View& view) {
          return (planes.first + y_source - view.begin[plane_axis]) * view.stride[plane_axis] +
                 (columns.first + x_source - view.begin[column_axis]);
        };
        const Compute* const here = now + y_source * stride + x_source;
        const Compute result = add_taps<constants::taps_to_unroll>(
            constants::with_source ? static_cast<const Compute*>(a.source.data)[offset(a.source)] : Compute(),
            [&](int plane, int, int column) { return operand<Stored>(here[plane * stride + column]); });
        if (left)
          next[y * stride + x] = result;
        else
          store(static_cast<Out*>(a.out.data)[offset(a.out)], result);
      }
    Compute* const results = next;
    next = now;
    now = results;
  }
}
