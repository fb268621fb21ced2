// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file says how kernels of a group of statements read its arrays. Include it after constants.cuh.

#include "kernels/cuda/ptx/precision.cuh"
#include "kernels/cuda/system/system_arguments.hpp"

namespace spsolve::cuda {
namespace {

using GroupArguments = SystemArguments<constants::inputs + constants::outputs>;

template <bool is_coefficient>
struct ElementOf {
  using Type = Stored;
};
template <>
struct ElementOf<true> {
  using Type = Compute;
};
/// Is the type of an element of input `i` in memory.
template <int i>
using InputElement = typename ElementOf<constants::is_coefficient[i] != 0>::Type;

/// Returns the strides of input `i`, or of the outputs. All fields have the same strides, which are loaded
/// once.
template <int i>
__device__ inline const long long (&stride_of(const GroupArguments& a))[2] {
  return a
      .array[i < constants::inputs && constants::is_coefficient[i < constants::inputs ? i : 0]
                 ? i
                 : constants::inputs]
      .stride;
}

/// Returns an element of an input, in compute precision.
template <int i>
__device__ inline Compute value_at(const SystemArray& array, long long element) {
  return static_cast<Compute>(value_of(static_cast<const InputElement<i>*>(array.data)[element]));
}

__device__ inline long long within(long long p, long long begin, long long end) {
  return p < begin ? begin : p >= end ? end - 1 : p;
}

/// Returns true if the point that is displaced from coordinate p of an axis lies beyond a face of the grid.
template <int displacement, class Index>
__device__ inline bool is_beyond_face(Index p, long long extent) {
  if constexpr (displacement < 0) return p < -displacement;
  return p >= static_cast<Index>(extent) - displacement;
}

/// Moves coordinate p of an axis to the point whose value a read of input `i` at p finds. Returns false and
/// sets `ghost` beyond a face with a value.
template <int i, int axis, class Index>
__device__ inline bool find_source(Index& p, Index extent, Compute& ghost) {
  constexpr Beyond low = constants::beyond[i][axis][0], high = constants::beyond[i][axis][1];
  if constexpr (low == Beyond::memory) return true;
  if (p >= 0 && p < extent) return true;
  if ((p < 0 ? low : high) == Beyond::value) {
    constexpr Compute ghost_low = constants::ghost[i][axis][0], ghost_high = constants::ghost[i][axis][1];
    ghost = p < 0 ? ghost_low : ghost_high;
    return false;
  }
  do p = p < 0 ? -1 - p : 2 * extent - 1 - p;
  while (p < 0 || p >= extent);  // a grid may be thinner than the reach
  return true;
}

}  // namespace
}  // namespace spsolve::cuda
