// SPDX-License-Identifier: Apache-2.0
// Adds amounts to points of fields, and records values of points, one thread per point. Points lie anywhere:
// the kernels are bound by the latency of memory, some microseconds for thousands of points.
//
// constants.cuh holds the type of the fields.

#include "constants.cuh"
#include "kernels/cuda/points/point_arguments.hpp"
#include "kernels/cuda/ptx/precision.cuh"

namespace spsolve::cuda {

using constants::Stored;
using Value = decltype(value_of(Stored()));

/// Calls visit(stored value, amount or recorded value) for the points of this thread.
template <class Visit>
__device__ inline void for_each_point(const PointArguments& a, const Visit& visit) {
  for (int i = static_cast<int>(blockIdx.x * point_threads + threadIdx.x); i < a.count;
       i += static_cast<int>(gridDim.x * point_threads)) {
    const DevicePoint point = a.points[i];
    visit(static_cast<Stored*>(a.fields[point.field])[point.element],
          static_cast<Value*>(a.values)[point.column]);
  }
}

}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(spsolve::cuda::point_threads)
    add_to_points(const __grid_constant__ spsolve::cuda::PointArguments a) {
  using namespace spsolve::cuda;
  for_each_point(a, [](Stored& stored, Value& amount) { store(stored, value_of(stored) + amount); });
}

extern "C" __global__ void __launch_bounds__(spsolve::cuda::point_threads)
    record_points(const __grid_constant__ spsolve::cuda::PointArguments a) {
  using namespace spsolve::cuda;
  for_each_point(a, [](Stored& stored, Value& recorded) { recorded = value_of(stored); });
}
