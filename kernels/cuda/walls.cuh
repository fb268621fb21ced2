// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arguments.hpp"
#include "constants.cuh"

namespace spsolve::cuda {

/// The value beyond a dirichlet face.
__device__ inline constants::Compute ghost_value(const Arguments& a, int axis, int side) {
  if constexpr (sizeof(constants::Compute) == sizeof(float))
    return a.ghost_fp32[axis][side];
  else
    return a.ghost[axis][side];
}

/// `one` where bit `k` is set, `other` elsewhere: by masks, since predicates are few and so many of them that
/// hold throughout the march make ptxas 13.0 lose the stack pointer of the kernel.
__device__ inline float choose(unsigned bits, int k, float one, float other) {
  const unsigned mask = 0u - (bits >> k & 1), rest = __float_as_uint(other);
  return __uint_as_float(rest ^ ((__float_as_uint(one) ^ rest) & mask));
}
__device__ inline double choose(unsigned bits, int k, double one, double other) {
  const long long mask = -static_cast<long long>(bits >> k & 1), rest = __double_as_longlong(other);
  return __longlong_as_double(rest ^ ((__double_as_longlong(one) ^ rest) & mask));
}

/// Where a point less than a period from the grid is, along an axis that repeats.
__device__ inline long long in_period(long long p, long long period) {
  return p < 0 ? p + period : p >= period ? p - period : p;
}

__device__ inline long long clamp(long long p, long long begin, long long end) {
  return p < begin ? begin : p >= end ? end - 1 : p;
}

}  // namespace spsolve::cuda
