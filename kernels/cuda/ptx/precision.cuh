// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file defines the storage formats of fields, and how stored numbers become operands of arithmetic.

#include "kernels/cuda/ptx/conversions.cuh"

namespace spsolve::cuda {

struct Half {
  unsigned short bits;
};
struct Bfloat16 {
  unsigned short bits;
};
/// Holds a number in fp32 storage; operands are rounded to the 10 mantissa bits of tf32.
struct Tf32 {
  float stored;
};

/// Returns the value of a stored number, before it is rounded to an operand.
__device__ inline double value_of(double stored) { return stored; }
__device__ inline float value_of(float stored) { return stored; }
__device__ inline float value_of(Tf32 stored) { return stored.stored; }
__device__ inline float value_of(Bfloat16 stored) {
  return __uint_as_float(static_cast<unsigned>(stored.bits) << 16);
}
__device__ inline float value_of(Half stored) { return value_of_fp16(stored.bits); }

/// Stores a value, rounded to the storage format.
__device__ inline void store(double& to, double value) { to = value; }
__device__ inline void store(float& to, float value) { to = value; }
__device__ inline void store(Tf32& to, float value) { to.stored = value; }
__device__ inline void store(Bfloat16& to, float value) { to.bits = bf16_of(value); }
__device__ inline void store(Half& to, float value) { to.bits = fp16_of(value); }

/// Is true if stored numbers can be used as operands without a conversion, given that storage and compute
/// type have the same size.
template <class Stored>
constexpr bool operands_are_stored = true;
template <>
constexpr bool operands_are_stored<Tf32> = false;

/// Rounds a value to the operand that enters a product. Only tf32 rounds here; cvt.rna.tf32 would round ties
/// away from zero instead of to even.
template <class Stored, class Compute>
__device__ inline Compute operand(Compute value) {
  return value;
}
template <>
__device__ inline float operand<Tf32, float>(float value) {
  const unsigned bits = __float_as_uint(value);
  if ((bits & 0x7f800000u) == 0x7f800000u) return value;
  return __uint_as_float((bits + 0x0fffu + ((bits >> 13) & 1u)) & ~0x1fffu);
}

/// Computes a b + c with one rounding.
__device__ inline double fused(double a, double b, double c) { return __fma_rn(a, b, c); }
__device__ inline float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }

__device__ inline double product(double a, double b) { return __dmul_rn(a, b); }
__device__ inline float product(float a, float b) { return __fmul_rn(a, b); }
__device__ inline double sum(double a, double b) { return __dadd_rn(a, b); }
__device__ inline float sum(float a, float b) { return __fadd_rn(a, b); }

/// Holds `n` neighbouring elements that one access of up to 16 bytes loads or stores.
template <class T, int n>
struct alignas(sizeof(T) * n < 16 ? sizeof(T) * n : 16) ElementVector {
  T element[n];
};

/// Passes a compile-time integer as an argument.
template <int value_>
struct Int {
  static constexpr int value = value_;
};

/// Calls body(Int<first>()), ..., body(Int<last - 1>()): a loop with a compile-time index. The range is
/// halved recursively because compilers limit the depth of template nesting.
template <int first, int last, class Body>
__device__ __forceinline__ void static_for(Body&& body) {
  if constexpr (last - first == 1) {
    body(Int<first>());
  } else if constexpr (first < last) {
    static_for<first, (first + last) / 2>(body);
    static_for<(first + last) / 2, last>(body);
  }
}

}  // namespace spsolve::cuda
