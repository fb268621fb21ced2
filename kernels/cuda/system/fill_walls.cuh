// SPDX-License-Identifier: Apache-2.0
// This kernel fills the ghost points beyond walls in memory, with the bits of kernels/cpu/fill_walls.hpp. One
// thread computes one ghost point of one array. It begins with the value of the grid point that the ghost
// point mirrors along all axes, and applies the condition of each face that the point lies beyond, in the
// order x, y, z. No thread waits for another, and launches on other streams that fill the same points write
// the same bits.
//
// There is no shared memory and no barrier. Blocks along y take the arrays. The kernel is bound by latency:
// every point is one chain of three loads or more, and there are few points.

#include "kernels/cuda/ptx/precision.cuh"
#include "kernels/cuda/system/fill_walls_arguments.hpp"

namespace spsolve::cuda {

/// Returns c of a face at the face point beside which ghost point p lies. Along axes that are filled before
/// `axis` the face point has the coordinate of p, along later axes that of the mirrored point q.
__device__ inline double wall_value(const WallFace& face, int axis, const long long (&p)[3],
                                    const long long (&q)[3]) {
  const long long slow = axis == 0 ? p[1] : q[0], fast = axis == 2 ? q[1] : p[2];
  return face.values[slow * face.stride[0] + fast * face.stride[1]];
}

template <class Stored>
__device__ inline void fill_point(const FillArguments& a, const FilledArray& array, const long long (&p)[3]) {
  using Value = decltype(value_of(Stored()));
  Stored* const data = static_cast<Stored*>(array.data);
  long long q[3];
#pragma unroll
  for (int axis = 0; axis < 3; ++axis) {
    q[axis] = p[axis];
    if (a.has_walls[axis])  // a grid may be thinner than its halo
      while (q[axis] < 0 || q[axis] >= a.shape[axis])
        q[axis] = q[axis] < 0 ? -1 - q[axis] : 2 * a.shape[axis] - 1 - q[axis];
    if (q[axis] < a.known_begin[axis] || q[axis] >= a.known_end[axis]) return;
  }
  Stored value = data[q[0] * a.stride[0] + q[1] * a.stride[1] + q[2]];
#pragma unroll
  for (int axis = 2; axis >= 0; --axis) {
    if (p[axis] == q[axis]) continue;
    const WallFace& face = array.face[axis][p[axis] < 0 ? 0 : 1];
    const double* const layer = face.layers + 2 * (p[axis] < 0 ? -1 - p[axis] : p[axis] - a.shape[axis]);
    const Value given = static_cast<Value>(product(layer[1], wall_value(face, axis, p, q)));
    store(value, fused(static_cast<Value>(layer[0]), static_cast<Value>(value_of(value)), given));
  }
  data[p[0] * a.stride[0] + p[1] * a.stride[1] + p[2]] = value;
}

template <class Stored, class Index>
__device__ inline void fill_points(const FillArguments& a) {
  for (Index i = blockIdx.x * static_cast<Index>(blockDim.x) + threadIdx.x;
       i < static_cast<Index>(a.first_point[6]); i += gridDim.x * static_cast<Index>(blockDim.x)) {
    int number = 0;
    while (i >= static_cast<Index>(a.first_point[number + 1])) ++number;
    const GhostSlab& slab = a.slab[number];
    const Index inside = i - static_cast<Index>(a.first_point[number]);
    const Index columns = static_cast<Index>(slab.extent[2]), rows = static_cast<Index>(slab.extent[1]);
    const Index row = inside / columns, plane = row / rows;
    fill_point<Stored>(a, a.array[blockIdx.y],
                       {slab.begin[0] + static_cast<long long>(plane),
                        slab.begin[1] + static_cast<long long>(row - plane * rows),
                        slab.begin[2] + static_cast<long long>(inside - row * columns)});
  }
}

/// Fills ghost points. Points are numbered with 32 bits where these suffice, because 32-bit division is
/// several times cheaper. The bound leaves room for one stride of the grid.
template <class Stored>
__device__ inline void fill_walls(const FillArguments& a) {
  if (a.first_point[6] < (1ll << 31))
    fill_points<Stored, unsigned>(a);
  else
    fill_points<Stored, unsigned long long>(a);
}

}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(spsolve::cuda::fill_threads)
    fill_walls_fp64(const __grid_constant__ spsolve::cuda::FillArguments a) {
  spsolve::cuda::fill_walls<double>(a);
}
extern "C" __global__ void __launch_bounds__(spsolve::cuda::fill_threads)
    fill_walls_fp32(const __grid_constant__ spsolve::cuda::FillArguments a) {
  spsolve::cuda::fill_walls<float>(a);
}
extern "C" __global__ void __launch_bounds__(spsolve::cuda::fill_threads)
    fill_walls_bf16(const __grid_constant__ spsolve::cuda::FillArguments a) {
  spsolve::cuda::fill_walls<spsolve::cuda::Bfloat16>(a);
}
extern "C" __global__ void __launch_bounds__(spsolve::cuda::fill_threads)
    fill_walls_fp16(const __grid_constant__ spsolve::cuda::FillArguments a) {
  spsolve::cuda::fill_walls<spsolve::cuda::Half>(a);
}
