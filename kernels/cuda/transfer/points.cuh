// SPDX-License-Identifier: Apache-2.0
// Adds amounts to points of fields, and records values of points, one thread per point. Points lie anywhere:
// the kernels are bound by the latency of memory, some microseconds for thousands of points.

#include "kernels/cuda/ptx/precision.cuh"
#include "kernels/cuda/transfer/point_arguments.hpp"

namespace spsolve::cuda {

/// Calls visit(stored value, amount or recorded value) for the points of this thread.
template <class Stored, class Visit>
__device__ inline void for_each_point(const PointArguments& a, const Visit& visit) {
  using Value = decltype(value_of(Stored()));
  for (int i = static_cast<int>(blockIdx.x * point_threads + threadIdx.x); i < a.count;
       i += static_cast<int>(gridDim.x * point_threads)) {
    const DevicePoint point = a.points[i];
    visit(static_cast<Stored*>(a.fields[point.field])[point.element],
          static_cast<Value*>(a.values)[point.column]);
  }
}

/// The same for fields of any precision.
template <class Visit>
__device__ inline void for_each_point(const PointArguments& a, const Visit& visit) {
  switch (a.elements) {
    case Elements::fp64:
      return for_each_point<double>(a, visit);
    case Elements::bf16:
      return for_each_point<Bfloat16>(a, visit);
    case Elements::fp16:
      return for_each_point<Half>(a, visit);
    default:
      return for_each_point<float>(a, visit);
  }
}

}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(spsolve::cuda::point_threads)
    add_to_points(const __grid_constant__ spsolve::cuda::PointArguments a) {
  using namespace spsolve::cuda;
  for_each_point(a, [](auto& stored, auto& amount) { store(stored, value_of(stored) + amount); });
}

extern "C" __global__ void __launch_bounds__(spsolve::cuda::point_threads)
    record_points(const __grid_constant__ spsolve::cuda::PointArguments a) {
  using namespace spsolve::cuda;
  for_each_point(a, [](auto& stored, auto& recorded) { recorded = value_of(stored); });
}
