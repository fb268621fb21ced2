// SPDX-License-Identifier: Apache-2.0
// This kernel advances one group of statements of a system of equations, with one thread per point. It takes
// grids of one axis, regions that are thin across the march, in 2D also short ones, and equations whose tiles
// do not fit into shared memory. Values come from global memory through the caches; there is no shared memory
// and no barrier. If rows are long, a block takes a part of a row, and a thread takes one column of some
// neighbouring planes. Otherwise threads go through the points of the region with the stride of the grid.
//
// constants.cuh holds the statements (kernels/cuda/system/system_group.hpp).

#include "constants.cuh"
#include "kernels/cuda/system/group_values.cuh"

namespace spsolve::cuda {
namespace {

/// Describes a point, as far as it does not depend on the memory around the point.
class GridPoint {
 public:
  __device__ GridPoint(const GroupArguments& a, const long long (&p)[3]) : a_(a), p_(p) {}

  template <int axis, int displacement>
  __device__ bool is_beyond() const {
    return is_beyond_face<displacement>(p_[axis], a_.shape[axis]);
  }
  template <int i>
  __device__ Compute scalar() const {
    return static_cast<Compute>(a_.scalars[i]);
  }

 protected:
  const GroupArguments& a_;
  const long long (&p_)[3];
};

/// Describes a point whose reads all find a point in memory.
class InnerPoint : public GridPoint {
 public:
  using GridPoint::GridPoint;

  template <int i, int plane, int row, int column>
  __device__ Compute read() const {
    const long long(&stride)[2] = stride_of<i>(a_);
    const long long own = p_[0] * stride[0] + p_[1] * stride[1] + p_[2];
    return value_at<i>(a_.array[i], own + plane * stride[0] + row * stride[1] + column);
  }
};

/// Describes a point beside walls, or beyond the box of a statement. Beyond several faces the slowest axis
/// decides the value that a read finds. Reads at points without memory return any value; they affect no point
/// that is written.
class AnyPoint : public GridPoint {
 public:
  using GridPoint::GridPoint;

  template <int i, int plane, int row, int column>
  __device__ Compute read() const {
    const SystemArray& array = a_.array[i];
    long long q[3] = {p_[0] + plane, p_[1] + row, p_[2] + column};
    Compute ghost;
    if (!find_source<i, 0>(q[0], a_.shape[0], ghost) || !find_source<i, 1>(q[1], a_.shape[1], ghost) ||
        !find_source<i, 2>(q[2], a_.shape[2], ghost))
      return ghost;
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) q[axis] = within(q[axis], array.begin[axis], array.end[axis]);
    return value_at<i>(array, q[0] * array.stride[0] + q[1] * array.stride[1] + q[2]);
  }
};

__device__ inline void advance_at(const GroupArguments& a, const long long (&p)[3]) {
  bool inner = true;
  for (int axis = 0; axis < 3; ++axis)
    inner = inner && p[axis] >= a.inner.begin[axis] && p[axis] < a.inner.end[axis];
  Compute next[constants::statements];
  if (inner)
    advance_point(InnerPoint(a, p), next);
  else
    advance_point(AnyPoint(a, p), next);
#pragma unroll
  for (int s = 0; s < constants::statements; ++s) {
    const SystemArray& to = a.array[constants::inputs + s];
    bool wanted = true;
    for (int axis = 0; axis < 3; ++axis)
      wanted = wanted && p[axis] >= to.begin[axis] && p[axis] < to.end[axis];
    const long long(&stride)[2] = stride_of<constants::inputs>(a);
    if (wanted) store(static_cast<Stored*>(to.data)[p[0] * stride[0] + p[1] * stride[1] + p[2]], next[s]);
  }
}

/// Advances rows of points. Every block takes a part of a row in each of `point_planes` planes.
__device__ inline void advance_rows(const GroupArguments& a) {
  const Region& region = a.region;
  const unsigned parts = static_cast<unsigned>(a.column_tiles),
                 rows = static_cast<unsigned>(region.extent(1));
  const unsigned line = blockIdx.x / parts, part = blockIdx.x % parts;
  const long long column = region.begin[2] + part * blockDim.x + threadIdx.x;
  if (column >= region.end[2]) return;
  const long long first = region.begin[0] + static_cast<long long>(line / rows) * point_planes;
#pragma unroll 1
  for (int k = 0; k < point_planes && first + k < region.end[0]; ++k)
    advance_at(a, {first + k, region.begin[1] + line % rows, column});
}

template <class Index>
__device__ void advance_region(const GroupArguments& a) {
  const Region& region = a.region;
  const Index rows = static_cast<Index>(region.extent(1)), columns = static_cast<Index>(region.extent(2));
  const Index points = static_cast<Index>(region.extent(0)) * rows * columns;
  for (Index i = blockIdx.x * static_cast<Index>(blockDim.x) + threadIdx.x; i < points;
       i += gridDim.x * static_cast<Index>(blockDim.x)) {
    const Index row = i / columns;
    advance_at(a, {region.begin[0] + static_cast<long long>(row / rows),
                   region.begin[1] + static_cast<long long>(row % rows),
                   region.begin[2] + static_cast<long long>(i - row * columns)});
  }
}

}  // namespace
}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(256)
    point_group(const __grid_constant__ spsolve::cuda::GroupArguments a) {
  const spsolve::cuda::Region& region = a.region;
  if (a.column_tiles > 0) return spsolve::cuda::advance_rows(a);
  const long long points = (region.end[0] - region.begin[0]) * (region.end[1] - region.begin[1]) *
                           (region.end[2] - region.begin[2]);
  // 32-bit division is several times cheaper. The bound leaves room for one stride of the grid.
  if (points < (1ll << 31))
    spsolve::cuda::advance_region<unsigned>(a);
  else
    spsolve::cuda::advance_region<unsigned long long>(a);
}
