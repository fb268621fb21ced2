// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shapes, data and kernel arguments of sparse_gemm.cuh. Both the host compiler and NVRTC read this file.

#include "kernels/cuda/launch/arguments.hpp"

namespace spsolve::cuda {

// Tile of a block and number of pipeline stages. A stage holds 64 compressed bytes of every row of A, 128
// bytes of every column of B, and the metadata of A.
constexpr int gemm_tile_m = 128, gemm_tile_n = 256, gemm_stages = 5;
// Stages whose metadata are copied together and loaded into registers at once.
constexpr int gemm_chunk = 4;
constexpr int gemm_a_bytes = 64, gemm_b_bytes = 128, gemm_threads = 3 * 128;

/// Arguments of one launch of sparse_gemm.cuh.
struct GemmArguments {
  TensorMap a, b;      // bytes: [m][k / 2 elements], [n][k elements]
  void* a_data;        // memory of a
  void* b_data;        // memory of b
  unsigned* metadata;  // [m / 128][stage of k][warpgroup][word][lane of the warpgroup]
  float* c;            // [m][n]
  int m, n, k;
  bool exact;  // fill: small numbers whose sums are exact in any accumulator
};

/// Returns pseudo-random bits that depend on `matrix` and `place` only, the same on host and device.
constexpr unsigned gemm_hash(unsigned matrix, long long place) {
  unsigned long long bits = (static_cast<unsigned long long>(place) * 4 + matrix + 1) * 0x9e3779b97f4a7c15ull;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9ull;
  return static_cast<unsigned>((bits ^ bits >> 27) * 0x94d049bb133111ebull >> 32);
}

/// Returns an element of A or B: 16 bits of fp16 or 8 bits of e4m3, between 1/8 and 2 in magnitude; if
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

/// Returns which two of four columns a group of a row of A keeps, as metadata: idx0 | idx1 << 2.
constexpr unsigned gemm_pattern(long long group) {
  constexpr unsigned patterns[6] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110};
  return patterns[gemm_hash(2, group) % 6];
}

}  // namespace spsolve::cuda
