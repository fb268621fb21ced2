// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file finds the largest magnitude of a field and scales data by it. The host compiler and NVRTC both
// read this header, so it has no includes and no library types.

namespace spsolve {

/// Returns the magnitude of a number as the bits of a float. Integers compare like the magnitudes, with NaN
/// above infinity.
inline int magnitude(float value) { return __builtin_bit_cast(int, value) & 0x7fffffff; }

/// Holds the factor that data are multiplied by before they become pairs of fp16, and its inverse. Both are
/// powers of two.
struct DataScale {
  float by, inverse;
};

/// Returns the scale of data of magnitude `largest` at most, where reflected ghosts may reach 1.5 times that.
/// The scale brings `largest` to 2^14 or more (as long as the inverse is a number, which holds from 2^-112
/// on) and all data into the range of fp16. A pair of terms, the second times 2^10 (pair_term_scale), has an
/// error of 2^-22 of the number, or 2^-49 of the largest. If `largest` is not finite the scale is NaN, and so
/// are all results.
inline DataScale data_scale(int largest) {
  constexpr int fraction_bits = 23, bias = 127, not_finite = 0xff;
  const int exponent = largest >> fraction_bits;
  if (exponent == not_finite) {
    const float nan = __builtin_bit_cast(float, 0x7fc00000);
    return {nan, nan};
  }
  const int wanted = 14 + 2 * bias - exponent, most = 2 * bias - 1;  // biased exponents; `most` still has an
                                                                     // inverse
  const int scale = wanted < most ? wanted : most;
  return {__builtin_bit_cast(float, scale << fraction_bits),
          __builtin_bit_cast(float, (2 * bias - scale) << fraction_bits)};
}

}  // namespace spsolve
