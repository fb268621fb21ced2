// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/scalar/scalar_types.cuh"

namespace spsolve::cuda {

/// Returns the value beyond a dirichlet face.
__device__ inline Compute ghost_value(const ScalarArguments& a, int axis, int side) {
  if constexpr (sizeof(Compute) == sizeof(float))
    return a.ghost_fp32[axis][side];
  else
    return a.ghost[axis][side];
}

/// Returns whether the kernel wraps indices of a periodic axis at its ends, instead of reading periodic
/// copies from memory.
__device__ constexpr bool wraps(int axis) { return constants::wrapped[axis]; }

/// Wraps a coordinate of a periodic axis that is less than a period outside the grid, low <= p < high.
template <class Index>
__device__ Index in_period(Index p, Index low, Index high) {
  return p < low ? p + (high - low) : p >= high ? p - (high - low) : p;
}

/// Moves coordinate p of an axis to the point of the grid, low <= p < high, whose value it takes, as
/// numpy.pad fills ghost points along one axis. Returns false and leaves p beyond a dirichlet face. Along
/// periodic axes p stays as it is, since memory holds their halo, unless the kernel wraps indices there.
template <class Index>
__device__ bool find_source(int axis, Index& p, Index low, Index high) {
  if (p >= low && p < high) return true;
  if (wraps(axis)) p = in_period(p, low, high);
  if (constants::walls[axis][0] == Wall::none) return true;
  const Wall wall = p < low ? constants::walls[axis][0] : constants::walls[axis][1];
  if (wall == Wall::dirichlet) return false;
  do p = p < low ? 2 * low - 1 - p : 2 * high - 1 - p;
  while (p < low || p >= high);  // a grid may be thinner than the stencil
  return true;
}

/// Return `one` where the bits of `mask` are set, or if bit `k` is set, else `other`. They use masks, because
/// predicate registers are few: if many predicates stay live throughout the march, ptxas 13.0 loses the stack
/// pointer of the kernel.
__device__ inline unsigned choose(unsigned mask, unsigned one, unsigned other) {
  return other ^ ((one ^ other) & mask);
}
__device__ inline float choose(unsigned bits, int k, float one, float other) {
  const unsigned mask = 0u - (bits >> k & 1);
  return __uint_as_float(choose(mask, __float_as_uint(one), __float_as_uint(other)));
}
/// Selects word by word: a mask of 64 bits would take two registers.
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
