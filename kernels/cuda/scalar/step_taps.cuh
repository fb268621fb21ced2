// SPDX-License-Identifier: Apache-2.0
// This file sums taps in the order of march.cuh, for step.cuh and steps.cuh.
#pragma once

#include "kernels/cuda/scalar/scalar_types.cuh"
#include "kernels/cuda/scalar/walls.cuh"

namespace spsolve::cuda {

/// Adds the weighted points around a point to `result`, in the order of march.cuh. value(plane, row, column)
/// returns the point at that offset.
template <int unroll, class Value>
__device__ Compute add_taps(Compute result, Value&& value) {
  using namespace constants;
  Compute plane_sum{};
  int plane = -radius[plane_axis] - 1;
  bool begun = !begins_with_plane;
#pragma unroll unroll
  for (int k = 0; k < tap_count; ++k) {
    const KernelTap& tap = taps[k];
    const int z = tap.offset[0], y = tap.offset[1], x = tap.offset[2];
    const auto rows = [&](int column) {
      return folded[row_axis] && y ? sum(value(z, -y, column), value(z, y, column)) : value(z, y, column);
    };
    const Compute point = folded[column_axis] && x ? sum(rows(-x), rows(x)) : rows(x);
    const auto weight = static_cast<Compute>(tap.weight);
    if (!folded[plane_axis] || z == 0) {
      result = fused(weight, point, result);
    } else {
      plane_sum = z == plane ? fused(weight, point, plane_sum) : product(weight, point);
      plane = z;
      if (k + 1 == tap_count || taps[k + 1].offset[0] != z) {
        result = begun ? sum(result, plane_sum) : plane_sum;
        begun = true;
      }
    }
  }
  return result;
}

}  // namespace spsolve::cuda
