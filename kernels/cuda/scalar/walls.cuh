// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/scalar/scalar_types.cuh"

namespace spsolve::cuda {

/// The value beyond a dirichlet face.
__device__ inline Compute ghost_value(const Arguments& a, int axis, int side) {
  if constexpr (sizeof(Compute) == sizeof(float))
    return a.ghost_fp32[axis][side];
  else
    return a.ghost[axis][side];
}

/// Whether points beyond the ends of an axis are found at its other end, not in the memory of the input.
__device__ constexpr bool wraps(int axis) { return constants::wrapped[axis]; }

/// Where a point less than a period from the grid, low <= p < high, is along an axis that wraps.
template <class Index>
__device__ Index in_period(Index p, Index low, Index high) {
  return p < low ? p + (high - low) : p >= high ? p - (high - low) : p;
}

/// Takes coordinate p of an axis to the point of the grid, low <= p < high, that it has its value from, as
/// numpy.pad fills ghosts along one axis; false, and p as it was, where that is a dirichlet face. Periodic
/// axes keep p, which memory holds, but where they repeat.
template <class Index>
__device__ bool find_source(int axis, Index& p, Index low, Index high) {
  if (p >= low && p < high) return true;
  if (wraps(axis)) p = in_period(p, low, high);
  if (constants::walls[axis][0] == Wall::none) return true;
  const Wall wall = p < low ? constants::walls[axis][0] : constants::walls[axis][1];
  if (wall == Wall::dirichlet) return false;
  do p = p < low ? 2 * low - 1 - p : 2 * high - 1 - p;
  while (p < low || p >= high);  // grids may be thinner than the stencil
  return true;
}

/// `one` where bit `k` is set, `other` elsewhere: by masks, since predicates are few and so many of them that
/// hold throughout the march make ptxas 13.0 lose the stack pointer of the kernel.
__device__ inline unsigned choose(unsigned mask, unsigned one, unsigned other) {
  return other ^ ((one ^ other) & mask);
}
__device__ inline float choose(unsigned bits, int k, float one, float other) {
  const unsigned mask = 0u - (bits >> k & 1);
  return __uint_as_float(choose(mask, __float_as_uint(one), __float_as_uint(other)));
}
/// Word by word: a mask of 64 bits would be two registers.
__device__ inline double choose(unsigned bits, int k, double one, double other) {
  const unsigned mask = 0u - (bits >> k & 1);
  const auto word = [&](int a, int b) {
    return static_cast<int>(choose(mask, static_cast<unsigned>(a), static_cast<unsigned>(b)));
  };
  return __hiloint2double(word(__double2hiint(one), __double2hiint(other)),
                          word(__double2loint(one), __double2loint(other)));
}

__device__ inline long long clamp(long long p, long long begin, long long end) {
  return p < begin ? begin : p >= end ? end - 1 : p;
}

}  // namespace spsolve::cuda
