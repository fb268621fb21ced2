// SPDX-License-Identifier: Apache-2.0
// Adds amounts to points of fields, and records values of points, one thread per point. Points lie anywhere,
// so the kernels are bound by the latency of memory: some microseconds for thousands of points.
// combine_points() computes the values that the host gets from recorded points.
//
// constants.cuh holds the type of the fields.

#include "constants.cuh"
#include "kernels/cuda/points/point_arguments.hpp"
#include "kernels/cuda/ptx/precision.cuh"

namespace spsolve::cuda {

using constants::Stored;
using Value = decltype(value_of(Stored()));

/// Computes one value of `rows_per_thread` rows at a time, so that each share is loaded once for these rows.
/// Sums are in double and in the order of the shares, as on the host.
__device__ inline void combine(const CombineArguments& a, unsigned value, unsigned begin) {
  const unsigned rows = min(a.rows - begin, rows_per_thread);
  const Value* points[rows_per_thread];
  double sums[rows_per_thread];
  for (unsigned row = 0; row < rows_per_thread; ++row) {
    unsigned place = a.first + begin + min(row, rows - 1);
    if (place >= a.ring) place -= a.ring;
    points[row] = static_cast<const Value*>(a.points) + place * a.columns;
    sums[row] = 0;
  }
  for (unsigned k = a.starts[value]; k < a.starts[value + 1]; ++k) {
    const DeviceShare share = a.shares[k];
    for (unsigned row = 0; row < rows_per_thread; ++row)
      sums[row] += share.weight * static_cast<double>(points[row][share.point]);
  }
  Value* const out = static_cast<Value*>(a.out) + a.value_columns[value];
  for (unsigned row = 0; row < rows; ++row)
    out[static_cast<long long>(begin + row) * a.values] = static_cast<Value>(sums[row]);
}

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

extern "C" __global__ void __launch_bounds__(spsolve::cuda::point_threads)
    combine_points(const __grid_constant__ spsolve::cuda::CombineArguments a) {
  using namespace spsolve::cuda;
  for (unsigned value = blockIdx.x * point_threads + threadIdx.x; value < a.values;
       value += gridDim.x * point_threads)
    for (unsigned row = blockIdx.y * rows_per_thread; row < a.rows; row += gridDim.y * rows_per_thread)
      combine(a, value, row);
}
