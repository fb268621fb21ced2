// SPDX-License-Identifier: Apache-2.0
// One time step of any stencil on a box: one thread per point, operands from global memory through the
// caches. The way out for shapes that march.cuh does not take. Per point: taps loads and fused multiply-adds;
// bound by L1 (one 4-byte wavefront per tap and warp).

#include "step_taps.cuh"

namespace spsolve::cuda {

constexpr int larger(int a, int b) { return a > b ? a : b; }
constexpr int largest_radius =
    larger(constants::radius[0], larger(constants::radius[1], constants::radius[2]));

constexpr bool any_neumann() {
  for (const auto& faces : constants::walls)
    if (faces[0] == Wall::neumann || faces[1] == Wall::neumann) return true;
  return false;
}

/// Mirroring takes a loop: its results are kept, by axis, where they can be in registers.
constexpr bool keep_origins = any_neumann() && constants::taps_to_unroll == constants::tap_count;

constexpr long long in_face = -1;

/// Where the points of one coordinate of an axis have their values: so many elements on in the field, or in a
/// dirichlet face.
__device__ inline long long origin_of(const Arguments& a, int axis, long long p) {
  return find_source(axis, p, 0ll, a.shape[axis]) ? (p - a.in.begin[axis]) * a.in.stride[axis] : in_face;
}

template <class Index>
__device__ void step_region(const Arguments& a, const Region& region) {
  const Index rows = static_cast<Index>(region.end[1] - region.begin[1]);
  const Index columns = static_cast<Index>(region.end[2] - region.begin[2]);
  const Index points = static_cast<Index>(region.end[0] - region.begin[0]) * rows * columns;
  for (Index i = blockIdx.x * static_cast<Index>(blockDim.x) + threadIdx.x; i < points;
       i += gridDim.x * static_cast<Index>(blockDim.x)) {
    const Index row = i / columns;
    const long long p[3] = {region.begin[0] + static_cast<long long>(row / rows),
                            region.begin[1] + static_cast<long long>(row % rows),
                            region.begin[2] + static_cast<long long>(i - row * columns)};
    bool inner = true;
    long long in_offset = 0, out_offset = 0, source_offset = 0;
    for (int axis = 0; axis < 3; ++axis) {
      constexpr const int(&radius)[3] = constants::radius;
      if (constants::walls[axis][0] != Wall::none)
        inner = inner && p[axis] >= radius[axis] && p[axis] < a.shape[axis] - radius[axis];
      in_offset += (p[axis] - a.in.begin[axis]) * a.in.stride[axis];
      out_offset += (p[axis] - a.out.begin[axis]) * a.out.stride[axis];
      source_offset += (p[axis] - a.source.begin[axis]) * a.source.stride[axis];
    }
    Compute result =
        constants::with_source ? static_cast<const Compute*>(a.source.data)[source_offset] : Compute(0);
    if (inner) {
      const In* in = static_cast<const In*>(a.in.data) + in_offset;
      result = add_taps<constants::taps_to_unroll>(result, [&](int plane, int row, int column) {
        const In stored = in[plane * a.in.stride[0] + row * a.in.stride[1] + column];
        return operand<Stored>(static_cast<Compute>(value_of(stored)));
      });
    } else {
      long long origins[3][2 * largest_radius + 1];
      if constexpr (keep_origins) {
#pragma unroll
        for (int axis = 0; axis < 3; ++axis)
#pragma unroll
          for (int k = -constants::radius[axis]; k <= constants::radius[axis]; ++k)
            origins[axis][largest_radius + k] = origin_of(a, axis, p[axis] + k);
      }
      const auto origin = [&](int axis, int k) {
        return keep_origins ? origins[axis][largest_radius + k] : origin_of(a, axis, p[axis] + k);
      };
      const In* in = static_cast<const In*>(a.in.data);
      result = add_taps<constants::taps_to_unroll>(result, [&](int plane, int row, int column) {
        // The slowest axis decides first. Of points of the grid the low face is passed by negative offsets
        // only, the high one by positive.
        const long long z = origin(0, plane), y = origin(1, row), x = origin(2, column);
        if (z == in_face) return ghost_value(a, 0, plane > 0);
        if (y == in_face) return ghost_value(a, 1, row > 0);
        if (x == in_face) return ghost_value(a, 2, column > 0);
        return operand<Stored>(static_cast<Compute>(value_of(in[z + y + x])));
      });
    }
    Out* out = static_cast<Out*>(a.out.data) + out_offset;
    store(*out, result);
    if (a.image_columns > 0) {
      const long long n = a.shape[column_axis];
      if (p[2] < a.image_columns) store(out[n], result);
      if (p[2] >= n - a.image_columns) store(out[-n], result);
    }
  }
}

}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(256) step(const __grid_constant__ spsolve::cuda::Arguments a) {
  const spsolve::cuda::Region& region = a.region;
  const long long points = (region.end[0] - region.begin[0]) * (region.end[1] - region.begin[1]) *
                           (region.end[2] - region.begin[2]);
  // 32-bit division is several times cheaper; the bound leaves room for one stride of the grid.
  if (points < (1ll << 31))
    spsolve::cuda::step_region<unsigned>(a, region);
  else
    spsolve::cuda::step_region<unsigned long long>(a, region);
}
