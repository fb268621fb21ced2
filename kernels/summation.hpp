// SPDX-License-Identifier: Apache-2.0
#pragma once

// The sums in this file do not depend on the order of their addends, so that any number of ranks, threads and
// devices gives the same bits. The host compiler and NVRTC both read this header, so it has no includes and
// no library types.

namespace spsolve {

/// Holds the extremes of a block's values. Sums of the values are scaled by them.
struct Extremes {
  double min, max;
  double largest_change;       // the largest |change|
  long long first_not_finite;  // the point's index in C order, or `no_point` if all values are finite
};
/// Is the value of first_not_finite if all values are finite, and the extremes of an empty set.
constexpr long long no_point = 0x7fff'ffff'ffff'ffff;
constexpr double largest_double = 0x1.fffffffffffffp+1023;
constexpr Extremes no_extremes{largest_double, -largest_double, 0, no_point};

inline Extremes combined(const Extremes& a, const Extremes& b) {
  return {a.min < b.min ? a.min : b.min, a.max > b.max ? a.max : b.max,
          a.largest_change > b.largest_change ? a.largest_change : b.largest_change,
          a.first_not_finite < b.first_not_finite ? a.first_not_finite : b.first_not_finite};
}

/// Prepares n numbers for a sum: they are scaled by a power of two to magnitudes below 1, then split at two
/// fixed bit positions so that sums of the pieces are exact (pre-rounding; Demmel and Nguyen, "Fast
/// reproducible floating-point summation", ARITH 2013, algorithm 4 with K = 2). The error of an addend is
/// below n^2 2^-103.
struct SumScales {
  double value, change;  // powers of two
  double split[2];       // 1.5 times a power of two: adding it rounds to its last place
};

/// Holds the two pieces into which a scaled number is split.
struct Pieces {
  double high, low;
};

/// Splits a number that is already scaled. What lies below the second piece is dropped.
inline Pieces pieces_of(double value, const SumScales& scales) {
  const double high = (value + scales.split[0]) - scales.split[0];
  const double low = ((value - high) + scales.split[1]) - scales.split[1];
  return {high, low};
}

/// Holds sums over points, in pieces: of the scaled values, of their squares and of the squares of their
/// changes.
struct Sums {
  double pieces[6];
};

inline Sums combined(const Sums& a, const Sums& b) {
  Sums sum = a;
  for (int i = 0; i < 6; ++i) sum.pieces[i] += b.pieces[i];
  return sum;
}

/// Returns the contribution of one point to the sums.
inline Sums summands(double value, double change, const SumScales& scales) {
  const double scaled = value * scales.value, scaled_change = change * scales.change;
  const Pieces v = pieces_of(scaled, scales), q = pieces_of(scaled * scaled, scales),
               c = pieces_of(scaled_change * scaled_change, scales);
  return {{v.high, v.low, q.high, q.low, c.high, c.low}};
}

}  // namespace spsolve
