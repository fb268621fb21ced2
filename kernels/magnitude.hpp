// SPDX-License-Identifier: Apache-2.0
#pragma once

// The largest magnitude of a field, and how data are scaled by it. Read by the host compiler and by NVRTC: no
// includes, no library types.

namespace spsolve {

/// The magnitude of a number as the bits of a float: in the order of magnitudes, NaN beyond infinity.
inline int magnitude(float value) { return __builtin_bit_cast(int, value) & 0x7fffffff; }

/// What data are multiplied by before they become pairs of fp16, and what undoes it: powers of two.
struct DataScale {
  float by, inverse;
};

/// The scale of data of magnitude `largest` at most, images beyond walls 1.5 times that: brings `largest` to
/// 2^14 or more (as far as its inverse is a number, from 2^-112 on) and all into the range of fp16. Two
/// terms, the second times 2^10 (pair_term_scale), are off by 2^-22 of a number, or by 2^-49 of the largest.
/// NaN if `largest` is not finite: so are all results then.
inline DataScale data_scale(int largest) {
  constexpr int fraction_bits = 23, bias = 127, not_finite = 0xff;
  const int exponent = largest >> fraction_bits;
  if (exponent == not_finite) {
    const float nan = __builtin_bit_cast(float, 0x7fc00000);
    return {nan, nan};
  }
  const int wanted = 14 + 2 * bias - exponent, most = 2 * bias - 1;  // biased, of a scale with an inverse
  const int scale = wanted < most ? wanted : most;
  return {__builtin_bit_cast(float, scale << fraction_bits),
          __builtin_bit_cast(float, (2 * bias - scale) << fraction_bits)};
}

}  // namespace spsolve
