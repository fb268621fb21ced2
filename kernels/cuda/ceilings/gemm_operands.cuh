// SPDX-License-Identifier: Apache-2.0
// Makes the operands of sparse_gemm.cuh: random ones, and the 2:4 form of a dense A.

#include "constants.cuh"  // is_e4m3
#include "kernels/cuda/ceilings/gemm_arguments.hpp"
#include "kernels/cuda/ceilings/gemm_data.hpp"

namespace spsolve::cuda {

using namespace constants;

/// Names the type that holds the bits of an element.
template <bool bytes>
struct Bits {
  using Type = unsigned short;
};
template <>
struct Bits<true> {
  using Type = unsigned char;
};
using ElementBits = Bits<is_e4m3>::Type;
constexpr unsigned magnitude_bits = is_e4m3 ? 0x7f : 0x7fff;
constexpr int group_lanes = 128;

/// Writes random operands (gemm_data.hpp), and zeros between k and the pitch.
extern "C" __global__ void fill(const __grid_constant__ GemmOperands o) {
  const long long first = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = first; i < o.m * o.pitch; i += threads) {
    const int column = static_cast<int>(i % o.pitch);
    static_cast<ElementBits*>(o.a)[i] =
        column < o.k ? gemm_a_element(is_e4m3, o.exact, i / o.pitch, column, o.k) : 0;
  }
  for (long long i = first; i < o.n * o.pitch; i += threads) {
    const int row = static_cast<int>(i % o.pitch);
    static_cast<ElementBits*>(o.b)[i] =
        row < o.k ? gemm_b_element(is_e4m3, o.exact, row, i / o.pitch, o.k) : 0;
  }
}

/// Keeps two of four elements of a row of A, and returns which ones.
__device__ inline unsigned compress_group(const GemmOperands& o, long long row, int group) {
  unsigned bits[4] = {}, magnitudes[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int column = 4 * group + i;
    if (row < o.m && column < o.k) bits[i] = static_cast<const ElementBits*>(o.a)[row * o.pitch + column];
    magnitudes[i] = bits[i] & magnitude_bits;
  }
  const KeptPair kept = kept_pair(magnitudes);
  if (!kept.is_whole) atomicAdd(o.faults, 1);
  if (row < o.m && 2 * group < o.values_pitch) {
    ElementBits* const values = static_cast<ElementBits*>(o.values) + row * o.values_pitch + 2 * group;
    values[0] = bits[kept.first];
    values[1] = bits[kept.second];
  }
  return kept.metadata();
}

/// Writes the kept elements of A and their metadata. Each thread makes one word, of eight groups: fp16 has
/// four groups of row g in the low half and of row g + 8 in the high half; e4m3 has eight groups of one row
/// (PTX ISA, "Sparse wgmma: metadata").
extern "C" __global__ void compress(const __grid_constant__ GemmOperands o) {
  const long long first = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
  const long long pieces = (o.m + 2 * gemm_metadata_rows - 1) / (2 * gemm_metadata_rows) * 2;
  const long long words = pieces * o.stages * 2 * o.words_per_stage * group_lanes;
  for (long long i = first; i < words; i += threads) {
    const int lane = i % group_lanes;
    const long long piece_word = i / group_lanes;
    const int word = piece_word % o.words_per_stage, half = piece_word / o.words_per_stage % 2;
    const long long stage = piece_word / o.words_per_stage / 2;
    const int column = (static_cast<int>(stage % o.stages) * o.words_per_stage + word) * gemm_word_columns;
    const long long row =
        stage / o.stages * gemm_metadata_rows + half * gemm_group_rows + lane / 32 * 16 + lane % 32 / 4;
    unsigned bits = 0;
    for (int j = 0; j < 8; ++j) {
      const long long m = row + 8 * (is_e4m3 ? lane % 2 : j / 4);
      const int group = column / 4 + (is_e4m3 ? lane / 2 % 2 * 8 + j : lane % 4 * 4 + j % 4);
      bits |= compress_group(o, m, group) << 4 * j;
    }
    o.metadata[i] = bits;
  }
}

}  // namespace spsolve::cuda
