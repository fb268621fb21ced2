// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file holds the operations of equations on a device, one function each where C++ has no operator. The
// functions have the roundings of apply() (kernels/operator/apply.hpp), which defines the operations, in the
// same order. Programs are compiled without contraction of products and sums.

#include "kernels/cuda/ptx/precision.cuh"

namespace spsolve::cuda::operations {

template <class T>
__device__ inline T truth(bool value) {
  return value ? T(1) : T(0);
}

template <class T>
__device__ inline T less(T a, T b) {
  return truth<T>(a < b);
}
template <class T>
__device__ inline T less_equal(T a, T b) {
  return truth<T>(a <= b);
}
template <class T>
__device__ inline T greater(T a, T b) {
  return truth<T>(a > b);
}
template <class T>
__device__ inline T greater_equal(T a, T b) {
  return truth<T>(a >= b);
}
template <class T>
__device__ inline T equal(T a, T b) {
  return truth<T>(a == b);
}
template <class T>
__device__ inline T not_equal(T a, T b) {
  return truth<T>(a != b);
}
template <class T>
__device__ inline T both(T a, T b) {
  return truth<T>(a != T(0) && b != T(0));
}
template <class T>
__device__ inline T either(T a, T b) {
  return truth<T>(a != T(0) || b != T(0));
}
template <class T>
__device__ inline T select(T condition, T a, T b) {
  return condition != T(0) ? a : b;
}

template <class T>
__device__ inline T absolute(T a) {
  return a >= T(0) ? a : -a;
}
template <class T>
__device__ inline T heaviside(T a) {
  return a < T(0) ? T(0) : a > T(0) ? T(1) : a == T(0) ? T(0.5) : a;
}
template <class T>
__device__ inline T sign(T a) {
  return a < T(0) ? T(-1) : a > T(0) ? T(1) : T(0);
}
template <class T>
__device__ inline T clamp(T x, T low, T high) {
  const T above = x < low ? low : x;
  return high < above ? high : above;
}
template <class T>
__device__ inline T smoothstep(T a, T b, T x) {
  const T s = clamp((x - a) / (b - a), T(0), T(1));
  return s * s * (T(3) - T(2) * s);
}

/// Returns the sum of its arguments. The sum begins with 0, which makes a sum of negative zeros positive.
template <class T, class... Others>
__device__ inline T sum(T first, Others... others) {
  T total = T(0) + first;
  ((total += others), ...);
  return total;
}
template <class T, class... Others>
__device__ inline T average(T first, Others... others) {
  return sum(first, others...) / T(1 + sizeof...(others));
}
template <class T, class... Others>
__device__ inline T maximum(T first, Others... others) {
  T largest = first;
  ((largest = largest < others ? others : largest), ...);
  return largest;
}
template <class T, class... Others>
__device__ inline T minimum(T first, Others... others) {
  T least = first;
  ((least = others < least ? others : least), ...);
  return least;
}

__device__ inline double power(double a, double b) { return ::pow(a, b); }
__device__ inline float power(float a, float b) { return ::powf(a, b); }
__device__ inline double acos(double a) { return ::acos(a); }
__device__ inline float acos(float a) { return ::acosf(a); }
__device__ inline double acosh(double a) { return ::acosh(a); }
__device__ inline float acosh(float a) { return ::acoshf(a); }
__device__ inline double asinh(double a) { return ::asinh(a); }
__device__ inline float asinh(float a) { return ::asinhf(a); }
__device__ inline double atanh(double a) { return ::atanh(a); }
__device__ inline float atanh(float a) { return ::atanhf(a); }
__device__ inline double asin(double a) { return ::asin(a); }
__device__ inline float asin(float a) { return ::asinf(a); }
__device__ inline double atan(double a) { return ::atan(a); }
__device__ inline float atan(float a) { return ::atanf(a); }
__device__ inline double atan2(double a, double b) { return ::atan2(a, b); }
__device__ inline float atan2(float a, float b) { return ::atan2f(a, b); }
__device__ inline double ceil(double a) { return ::ceil(a); }
__device__ inline float ceil(float a) { return ::ceilf(a); }
__device__ inline double cos(double a) { return ::cos(a); }
__device__ inline float cos(float a) { return ::cosf(a); }
__device__ inline double cosh(double a) { return ::cosh(a); }
__device__ inline float cosh(float a) { return ::coshf(a); }
__device__ inline double erf(double a) { return ::erf(a); }
__device__ inline float erf(float a) { return ::erff(a); }
__device__ inline double erfc(double a) { return ::erfc(a); }
__device__ inline float erfc(float a) { return ::erfcf(a); }
__device__ inline double exp(double a) { return ::exp(a); }
__device__ inline float exp(float a) { return ::expf(a); }
__device__ inline double floor(double a) { return ::floor(a); }
__device__ inline float floor(float a) { return ::floorf(a); }
__device__ inline double fmod(double a, double b) { return ::fmod(a, b); }
__device__ inline float fmod(float a, float b) { return ::fmodf(a, b); }
__device__ inline double hypot(double a, double b) { return ::hypot(a, b); }
__device__ inline float hypot(float a, float b) { return ::hypotf(a, b); }
__device__ inline double log(double a) { return ::log(a); }
__device__ inline float log(float a) { return ::logf(a); }
__device__ inline double log10(double a) { return ::log10(a); }
__device__ inline float log10(float a) { return ::log10f(a); }
__device__ inline double rint(double a) { return ::rint(a); }
__device__ inline float rint(float a) { return ::rintf(a); }
__device__ inline double sin(double a) { return ::sin(a); }
__device__ inline float sin(float a) { return ::sinf(a); }
__device__ inline double sinh(double a) { return ::sinh(a); }
__device__ inline float sinh(float a) { return ::sinhf(a); }
__device__ inline double sqrt(double a) { return ::sqrt(a); }
__device__ inline float sqrt(float a) { return ::sqrtf(a); }
__device__ inline double tan(double a) { return ::tan(a); }
__device__ inline float tan(float a) { return ::tanf(a); }
__device__ inline double tanh(double a) { return ::tanh(a); }
__device__ inline float tanh(float a) { return ::tanhf(a); }
__device__ inline double trunc(double a) { return ::trunc(a); }
__device__ inline float trunc(float a) { return ::truncf(a); }

template <class T>
__device__ inline T log2(T a) {
  return operations::log(a) / operations::log(T(2));
}
/// Returns the remainder of a division. The remainder has the sign of the divisor.
template <class T>
__device__ inline T mod(T a, T b) {
  const T rest = operations::fmod(a, b);
  return rest != T(0) && (rest < T(0)) != (b < T(0)) ? rest + b : rest;
}
template <class T>
__device__ inline T ricker(T t, T f) {
  const T phase = T(3.141592653589793) * f * t, square = phase * phase;
  return (T(1) - T(2) * square) * operations::exp(-square);
}

/// Returns a value rounded to storage, as a later read finds it.
template <class Stored, class Compute>
__device__ inline Compute as_stored(Compute value) {
  Stored stored;
  store(stored, value);
  return static_cast<Compute>(value_of(stored));
}

__device__ inline double infinity(double) { return __hiloint2double(0x7ff00000, 0); }
__device__ inline float infinity(float) { return __uint_as_float(0x7f800000u); }
__device__ inline double not_a_number(double) { return __hiloint2double(0x7ff80000, 0); }
__device__ inline float not_a_number(float) { return __uint_as_float(0x7fc00000u); }

}  // namespace spsolve::cuda::operations
