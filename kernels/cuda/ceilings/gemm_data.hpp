// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file makes the operands that a sparse GEMM is measured and checked with. Both the host compiler and
// NVRTC read this file.

namespace spsolve::cuda {

/// Returns pseudo-random bits that depend on `matrix` and `place` only, the same on host and device.
constexpr unsigned gemm_hash(unsigned matrix, long long place) {
  unsigned long long bits = (static_cast<unsigned long long>(place) * 4 + matrix + 1) * 0x9e3779b97f4a7c15ull;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9ull;
  return static_cast<unsigned>((bits ^ bits >> 27) * 0x94d049bb133111ebull >> 32);
}

/// Returns an element that is not zero: 16 bits of fp16 or 8 bits of e4m3, between 1/8 and 2 in magnitude; if
/// `exact`, a multiple of 1/2.
constexpr unsigned gemm_element(bool is_e4m3, bool exact, unsigned hash) {
  const unsigned sign = hash & 1, half_steps = 1 + (hash >> 1 & 3), fraction = hash >> 8;
  const unsigned exponent = exact ? (half_steps == 1   ? 6
                                     : half_steps == 4 ? 8
                                                       : 7)
                                  : 4 + (hash >> 1 & 3);  // biased by 7
  const unsigned exact_top = half_steps == 3;             // 1.5
  if (is_e4m3) return sign << 7 | exponent << 3 | (exact ? exact_top << 2 : fraction & 7);
  return sign << 15 | (exponent + 8) << 10 | (exact ? exact_top << 9 : fraction & 0x3ff);
}

/// Returns the element of A in a row and column: at most two of four neighbours are not zero, at random
/// places, and none in some groups.
constexpr unsigned gemm_a_element(bool is_e4m3, bool exact, long long row, int column, int k) {
  constexpr unsigned firsts[7] = {0, 0, 0, 1, 1, 2, 4}, seconds[7] = {1, 2, 3, 2, 3, 3, 4};
  const long long group = row * ((k + 3) / 4) + column / 4;
  const unsigned pattern = gemm_hash(2, group) % 7, place = column % 4;
  if (place != firsts[pattern] && place != seconds[pattern]) return 0;
  return gemm_element(is_e4m3, exact, gemm_hash(0, 4 * group + place));
}

/// Returns the element of B in a row (of k) and column.
constexpr unsigned gemm_b_element(bool is_e4m3, bool exact, int row, long long column, int k) {
  return gemm_element(is_e4m3, exact, gemm_hash(1, column * k + row));
}

}  // namespace spsolve::cuda
