// SPDX-License-Identifier: Apache-2.0
#pragma once

// Adds a plane of one time level to the sums of the next level.

#include "constants.cuh"
#include "kernels/cuda/ptx/precision.cuh"
#include "kernels/cuda/scalar/march_tile.cuh"

namespace spsolve::cuda {

/// Is true if operands are sums of points that share a weight (folded stencils).
constexpr bool makes_operands = folded[plane_axis] || folded[row_axis] || folded[column_axis];

/// Reads the operands of a thread's sums from its window.
struct Neighbours {
  const Window& window;

  /// Returns the operand at offset (dy, dx) of a point: the value there, or the sum of the values that are
  /// folded onto it.
  template <int dy, int dx>
  __device__ Compute at(int v, int c) const {
    const auto at_column = [&](int column) {
      const Compute plain = window.at[v + RY + dy][column];
      if constexpr (folded[row_axis] && dy != 0) return sum(window.at[v + RY - dy][column], plain);
      return plain;
    };
    const Compute plain = at_column(c + RX + dx);
    if constexpr (folded[column_axis] && dx != 0) return sum(at_column(c + RX - dx), plain);
    return plain;
  }
};

/// Reads the operands of planes whose only tap is the centre: the thread's own points.
struct Centres {
  const Points& points;

  template <int dy, int dx>
  __device__ Compute at(int v, int c) const {
    static_assert(dy == 0 && dx == 0);
    return points.at[v][c];
  }
};

/// Adds the taps with plane offset `dz` to a row of sums.
template <int dz>
__device__ __forceinline__ void add_row(Compute (&sums)[VX], const Neighbours& neighbours, int v) {
  static_for<0, tap_count>([&](auto k) {
    constexpr KernelTap tap = taps[k.value];
    if constexpr (tap.offset[0] == dz) {
#pragma unroll
      for (int c = 0; c < VX; ++c)
        sums[c] = fused(static_cast<Compute>(tap.weight),
                        neighbours.template at<tap.offset[1], tap.offset[2]>(v, c), sums[c]);
    }
  });
}

/// Sums the taps with plane offset `dz` by themselves.
template <int dz>
__device__ __forceinline__ void sum_row(Compute (&plane_sum)[VX], const Neighbours& neighbours, int v) {
  static_for<0, tap_count>([&](auto k) {
    constexpr KernelTap tap = taps[k.value];
    if constexpr (tap.offset[0] == dz) {
      constexpr bool first = k.value == 0 || taps[k.value > 0 ? k.value - 1 : 0].offset[0] != dz;
      constexpr auto weight = static_cast<Compute>(tap.weight);
#pragma unroll
      for (int c = 0; c < VX; ++c) {
        const Compute point = neighbours.template at<tap.offset[1], tap.offset[2]>(v, c);
        plane_sum[c] = first ? product(weight, point) : fused(weight, point, plane_sum[c]);
      }
    }
  });
}

/// Adds a sum of sum_row() to a row of sums, or starts the row with it if it is the first.
template <int dz>
__device__ __forceinline__ void add_sum(Compute (&sums)[VX], const Compute (&plane_sum)[VX]) {
#pragma unroll
  for (int c = 0; c < VX; ++c)
    sums[c] = dz == -R && begins_with_plane ? plane_sum[c] : sum(sums[c], plane_sum[c]);
}

/// Adds the taps with plane offset `dz` to a plane of sums.
template <int dz, class Operands>
__device__ __forceinline__ void add_taps(Points& sums, const Operands& operands) {
  static_for<0, tap_count>([&](auto k) {
    constexpr KernelTap tap = taps[k.value];
    if constexpr (tap.offset[0] == dz) {
#pragma unroll
      for (int v = 0; v < VY; ++v)
#pragma unroll
        for (int c = 0; c < VX; ++c)
          sums.at[v][c] = fused(static_cast<Compute>(tap.weight),
                                operands.template at<tap.offset[1], tap.offset[2]>(v, c), sums.at[v][c]);
    }
  });
}

/// Adds plane z of this level to the sums of the planes z - R + 1 .. z + R of the next level.
__device__ __forceinline__ void extend(Points (&sums)[R > 0 ? 2 * R : 1], const Neighbours& neighbours) {
  static_for<0, 2 * R>([&](auto j) { add_taps<R - 1 - j.value>(sums[j.value], neighbours); });
}

/// Decides the order in which planes of weights are taken. For these kernels ptxas makes fewer moves if the
/// farthest comes first (saves a sixth of the instructions of 3 x 3 points in fp32).
constexpr bool takes_farthest_first = R == 1 && sizeof(Compute) == 4;

/// Adds plane z of this level to the sums of the planes z - R (`next`) .. z + R, row by row, so that operands
/// made of several points need registers only briefly.
__device__ __forceinline__ void add_by_rows(Points& next, Points (&sums)[R > 0 ? 2 * R : 1],
                                            const Neighbours& neighbours) {
  static_for<0, VY>([&](auto v) {
    static_for<folded[plane_axis] ? 0 : -R, R + 1>([&](auto index) {
      constexpr int dz = folded[plane_axis] && takes_farthest_first ? R - index.value : index.value;
      const auto target = [&](int offset) -> Compute(&)[VX] {
        return offset == R ? next.at[v.value] : sums[R - 1 - offset].at[v.value];
      };
      if constexpr (!folded[plane_axis] || dz == 0) {
        add_row<dz>(target(dz), neighbours, v.value);
      } else if constexpr (has_plane(dz)) {
        Compute plane_sum[VX];
        sum_row<dz>(plane_sum, neighbours, v.value);
        add_sum<dz>(target(dz), plane_sum);
        add_sum<-dz>(target(-dz), plane_sum);
      }
    });
  });
}

}  // namespace spsolve::cuda
