// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replaces kernels/cuda/ptx/sparse_mma.cuh in the emulation: the lanes of a warp hand in their registers, and
// kernels/sparse computes the products.

#include "kernels/sparse/emulation/sparse_mma.hpp"
#include "tests/kernels/cuda/emulated/cuda_block.hpp"

namespace spsolve::cuda {

enum class Element { fp16, bf16, tf32 };
constexpr Precision precision_of(Element element) {
  return element == Element::fp16   ? Precision::fp16
         : element == Element::bf16 ? Precision::bf16
                                    : Precision::tf32;
}

namespace emulated {

/// Holds the operand registers of a warp for one instruction.
template <class Word>
struct WarpOperands {
  Word a[warp_lanes][8], b[warp_lanes][4];
  std::uint32_t metadata[warp_lanes];
};

/// Returns the registers of the current warp.
template <class Word>
WarpOperands<Word>& operands() {
  static WarpOperands<Word> warps[32];
  return warps[threadIdx.x / 32];
}
template <class Sum>
WarpRegisters<Sum, 4>& sums() {
  static WarpRegisters<Sum, 4> warps[32];
  return warps[threadIdx.x / 32];
}

/// Runs multiply(operands, sums) once for the warp, with the registers of all its lanes.
template <class Sum, class Word, int a_registers, int b_registers, class Multiply>
void multiply(Sum (&d)[4], const Word (&a)[a_registers], const Word (&b)[b_registers], unsigned metadata,
              Multiply&& multiply) {
  auto& all = operands<Word>();
  auto& sum = sums<Sum>();
  const int lane = static_cast<int>(threadIdx.x % 32);
  std::copy_n(a, a_registers, all.a[lane]);
  std::copy_n(b, b_registers, all.b[lane]);
  std::copy_n(d, 4, sum[lane].begin());
  all.metadata[lane] = metadata;
  __syncwarp();
  if (lane == 0) multiply(all, sum);
  __syncwarp();
  std::copy_n(sum[lane].begin(), 4, d);
}

}  // namespace emulated

template <Element element, int k>
constexpr int operand_registers = element == Element::tf32 ? k / 4 : k / 8;

template <Element element, int k, int selector>
void sparse_mma(float (&d)[4], const unsigned (&a)[operand_registers<element, k>],
                const unsigned (&b)[operand_registers<element, k>], unsigned metadata) {
  constexpr int n = operand_registers<element, k>;
  emulated::multiply(d, a, b, metadata, [](const auto& all, auto& sums) {
    std::uint32_t packed[warp_lanes * n];
    WarpRegisters<std::uint32_t, 4> points{};
    for (int lane = 0; lane < warp_lanes; ++lane) {
      std::copy_n(all.a[lane], n, packed + lane * n);
      std::copy_n(all.b[lane], n, points[lane].begin());
    }
    ::spsolve::sparse_mma({precision_of(element), k}, packed, all.metadata, selector, points, sums);
  });
}

}  // namespace spsolve::cuda
