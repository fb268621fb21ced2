// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replaces kernels/cuda/ptx/mma.cuh in the emulation. There are no 16-bit results, so nothing is transposed.

#include "kernels/cuda/ptx/sparse_mma.cuh"
#include "kernels/sparse/element_bits.hpp"

namespace spsolve::cuda {

template <Element element>
void dense_mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  emulated::multiply(d, a, b, 0, [](const auto& all, auto& sums) {
    constexpr int per_word = element == Element::tf32 ? 1 : 2, words = 8;
    const auto value = [](unsigned bits, int e) {
      return element_value(precision_of(element), bits >> (16 * e));
    };
    float left[mma_rows][words * per_word], right[words * per_word][mma_columns];
    for (int lane = 0; lane < warp_lanes; ++lane)
      for (int e = 0; e < per_word; ++e) {
        for (int i = 0; i < 4; ++i)
          left[a_row(lane, i)][a_word(lane, i) * per_word + e] = value(all.a[lane][i], e);
        for (int i = 0; i < 2; ++i)
          right[b_word(lane, i) * per_word + e][b_column(lane)] = value(all.b[lane][i], e);
      }
    for (int lane = 0; lane < warp_lanes; ++lane)
      for (int i = 0; i < 4; ++i)
        for (int k = 0; k < words * per_word; ++k)
          sums[lane][i] += left[c_row(lane, i)][k] * right[k][c_column(lane, i)];
  });
}

/// Emulates m16n8k(4 n): register 2 i + h of A is row g + 8 h, column q + 4 i; register i of B is row q + 4
/// i, column g.
template <int n>
void dense_mma(double (&d)[4], const double (&a)[2 * n], const double (&b)[n]) {
  emulated::multiply(d, a, b, 0, [](const auto& all, auto& sums) {
    for (int lane = 0; lane < warp_lanes; ++lane)
      for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 4 * n; ++k)
          sums[lane][i] +=
              all.a[4 * (lane / 4) + k % 4][k / 4 * 2 + i / 2] * all.b[4 * c_column(lane, i) + k % 4][k / 4];
  });
}

inline unsigned transpose(unsigned) { std::abort(); }
inline uint4 load_shared_again(const uint4* shared) { return *shared; }
inline uint4 load_global_again(const uint4* global) { return *global; }

}  // namespace spsolve::cuda
