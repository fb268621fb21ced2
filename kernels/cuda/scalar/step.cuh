// SPDX-License-Identifier: Apache-2.0
// This kernel takes one time step of any stencil, with one thread per point: the fallback for shapes that no
// other kernel takes. Threads go through the points of the region with the stride of the grid. Operands come
// from global memory through the caches; there is no shared memory and no barrier.
//
// Cost per point: one load and one fused multiply-add per tap. The kernel is bound by the L1 cache (one
// 4-byte wavefront per tap and warp).

#include "kernels/cuda/scalar/step_taps.cuh"

namespace spsolve::cuda {

constexpr int larger(int a, int b) { return a > b ? a : b; }
constexpr int largest_radius =
    larger(constants::radius[0], larger(constants::radius[1], constants::radius[2]));

/// Resolves the offsets of taps along an axis for a point beside walls, or beside the ends of an axis that
/// wraps. If taps are unrolled, all offsets are resolved in the constructor.
class AxisOffsets {
 public:
  __device__ AxisOffsets(const ScalarArguments& a, int axis, long long p)
      : axis_(axis),
        low_(static_cast<int>(max(-p, -far))),
        high_(static_cast<int>(min(a.shape[axis] - p, far))) {
    if constexpr (known_ahead) {
#pragma unroll
      for (int k = -largest_radius; k <= largest_radius; ++k) {
        int& offset = offsets_[k + largest_radius] = k;
        if (find_source(axis, offset, low_, high_)) inside_ |= 1u << (k + largest_radius);
      }
    }
  }

  /// Applies find_source() to an offset.
  __device__ bool find(int& offset) const {
    if constexpr (!known_ahead) return find_source(axis_, offset, low_, high_);
    const int k = offset + largest_radius;
    offset = offsets_[k];
    return inside_ >> k & 1;
  }

 private:
  static constexpr bool known_ahead =
      constants::taps_to_unroll == constants::tap_count && largest_radius < 16;
  static constexpr long long far = 1 << 28;

  int axis_, low_, high_;  // offsets between which the grid lies
  int offsets_[2 * largest_radius + 1];
  unsigned inside_ = 0;
};

/// Takes the step at the points of this thread. Index counts the points of the region.
template <class Index>
__device__ void step_region(const ScalarArguments& a, const Region& region) {
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
      if (constants::walls[axis][0] != Wall::none || wraps(axis))
        inner = inner && p[axis] >= radius[axis] && p[axis] < a.shape[axis] - radius[axis];
      in_offset += (p[axis] - a.in.begin[axis]) * a.in.stride[axis];
      out_offset += (p[axis] - a.out.begin[axis]) * a.out.stride[axis];
      source_offset += (p[axis] - a.source.begin[axis]) * a.source.stride[axis];
    }
    Compute result = constants::with_source ? constants::source_factor *
                                                  static_cast<const Compute*>(a.source.data)[source_offset]
                                            : Compute(0);
    if (inner) {
      const In* in = static_cast<const In*>(a.in.data) + in_offset;
      result = add_taps<constants::taps_to_unroll>(result, [&](int plane, int row, int column) {
        const In stored = in[plane * a.in.stride[0] + row * a.in.stride[1] + column];
        return operand<Stored>(static_cast<Compute>(value_of(stored)));
      });
    } else {
      const AxisOffsets planes(a, 0, p[0]), rows(a, 1, p[1]), columns(a, 2, p[2]);
      const In* in = static_cast<const In*>(a.in.data) + in_offset;
      result = add_taps<constants::taps_to_unroll>(result, [&](int plane, int row, int column) {
        // The slowest axis decides the value. A point of the grid passes the low face by negative offsets
        // only, the high face by positive ones.
        int z = plane, y = row, x = column;
        bool inside = columns.find(x);
        Compute value = ghost_value(a, 2, column > 0);
        if (!rows.find(y)) value = ghost_value(a, 1, row > 0), inside = false;
        if (!planes.find(z)) value = ghost_value(a, 0, plane > 0), inside = false;
        if (inside) {
          const In stored = in[z * a.in.stride[0] + y * a.in.stride[1] + x];
          value = operand<Stored>(static_cast<Compute>(value_of(stored)));
        }
        return value;
      });
    }
    store(static_cast<Out*>(a.out.data)[out_offset], result);
  }
}

}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(256)
    step(const __grid_constant__ spsolve::cuda::ScalarArguments a) {
  const spsolve::cuda::Region& region = a.region;
  const long long points = (region.end[0] - region.begin[0]) * (region.end[1] - region.begin[1]) *
                           (region.end[2] - region.begin[2]);
  // 32-bit division is several times cheaper. The bound leaves room for one stride of the grid.
  if (points < (1ll << 31))
    spsolve::cuda::step_region<unsigned>(a, region);
  else
    spsolve::cuda::step_region<unsigned long long>(a, region);
}
