// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file holds the operands of mma_sweep.cuh: fragments of points (B; in fp64 A), of weights (A; in fp64
// B), and their products.

#include "kernels/cuda/ptx/mma.cuh"
#include "kernels/cuda/tensor/mma_stage.cuh"

namespace spsolve::cuda {

/// Splits two numbers into bf16 terms. Each term is the rounding of what the terms before it leave over.
template <class Word, int n>
__device__ inline void split(float low, float high, Word (&term)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) {
    term[i] = bf16_pair(low, high);
    low -= __uint_as_float(term[i] << 16);
    high -= __uint_as_float(term[i] & 0xffff0000u);
  }
}

/// Loads points of a chunk as fragments of this lane.
template <class Stored>
class PointFragments {
 public:
  /// `first_tile` is the offset of the warp's first tile in a chunk, in elements.
  __device__ PointFragments(MmaSharedMemory& shared, int first_tile)
      : shared_(shared), lane_(threadIdx.x % 32), first_tile_(first_tile + lane_ / 4 * tile[2]) {
    if constexpr (unrolled) {
#pragma unroll
      for (int c = 0; c < classes; ++c) base_[c] = first_tile_ + lane_offset(c);
    } else {
      for (int i = threadIdx.x; i < elements_per_word * registers * 4; i += threads)
        shared.offsets[i] = place_offset[i / 4] + class_offset[place_class[i / 4]][i % 4];
    }
  }

  /// Loads the n registers of B of a step.
  template <int n>
  __device__ void load_step(const Stored* points, int step, Word (&b)[blocks][terms][b_words<n>]) const {
#pragma unroll
    for (int j = 0; j < blocks; ++j) {
      const int block_offset = j / blocks_x * tile[1] * box_pitch + j % blocks_x * tiles_columns;
      if constexpr (unrolled && aligned && paired_words && terms == 1 && n > 1) {
        if (together_from[first_register[step]] >= n) {
          load_together<n>(points, first_register[step], block_offset, b[j][0]);
          continue;
        }
      }
#pragma unroll
      for (int i = 0; i < n; ++i) {
        Word word[terms];
        load(points, first_register[step] + i, block_offset, word);
        if constexpr (wide) {
          b[j][0][2 * i] = word[0];
          load(points, first_register[step] + i, block_offset + 8 * tile[2], word);
          b[j][0][2 * i + 1] = word[0];
        } else {
#pragma unroll
          for (int term = 0; term < terms; ++term) b[j][term][i] = word[term];
        }
      }
    }
  }

 private:
  __device__ int lane_offset(int c) const {
    const int q = lane_ % 4;
    return q == 0   ? class_offset[c][0]
           : q == 1 ? class_offset[c][1]
           : q == 2 ? class_offset[c][2]
                    : class_offset[c][3];
  }

  /// Returns where element `e` of register r of this lane lies in a chunk.
  __device__ int place_of(int r, int e) const {
    const int i = r * elements_per_word + e;
    if constexpr (unrolled)
      return base_[place_class[i]] + place_offset[i];
    else
      return first_tile_ + shared_.offsets[4 * i + lane_ % 4];
  }

  /// Loads register r of B, split into terms.
  __device__ void load(const Stored* points, int r, int block_offset, Word (&b)[terms]) const {
    const Stored* first = points + place_of(r, 0) + block_offset;
    if constexpr (wide) {
      b[0] = *first;
    } else if constexpr (!paired_words) {
      b[0] = __float_as_uint(operand<Stored, float>(value_of(*first)));
    } else {
      const bool together = aligned && together_at[r];
      const Stored* second = together ? first + 1 : points + place_of(r, 1) + block_offset;
      if constexpr (terms == 1) {
        b[0] = together ? *reinterpret_cast<const unsigned*>(first) : first->bits | second->bits << 16;
      } else {
        float2 pair;
        if (together)
          pair = *reinterpret_cast<const float2*>(first);
        else
          pair = {*first, *second};
        split(pair.x, pair.y, b);
      }
    }
  }

  /// Loads the n registers of B from r on, which are neighbours in memory.
  template <int n>
  __device__ void load_together(const Stored* points, int r, int block_offset, unsigned (&b)[n]) const {
    const ElementVector<unsigned, n> words =
        *reinterpret_cast<const ElementVector<unsigned, n>*>(points + place_of(r, 0) + block_offset);
#pragma unroll
    for (int i = 0; i < n; ++i) b[i] = words.element[i];
  }

  const MmaSharedMemory& shared_;
  int lane_, first_tile_;
  int base_[unrolled ? classes : 1];  // first_tile_ plus the lane's offsets, by class
};

/// Holds weights and metadata, in registers, in shared memory, or in global memory.
class MmaWeights {
 public:
  __device__ MmaWeights(MmaSharedMemory& shared, const MmaArguments& a)
      : shared_(shared), a_(a), lane_(threadIdx.x % 32) {
    const auto* from = static_cast<const uint4*>(a.weights);
    if constexpr (weights_in_registers) {
#pragma unroll
      for (int i = 0; i < slots * slot_parts; ++i) value_[i] = from[i * 32 + lane_];
      if constexpr (sparse)
#pragma unroll
        for (int i = 0; i < m_blocks * steps; ++i) metadata_[i] = a.metadata[i * 32 + lane_];
    } else if constexpr (weights_in_shared) {
      for (int i = threadIdx.x; i < slots * slot_parts * 32; i += threads) shared.weights[i] = from[i];
      if constexpr (sparse)
        for (int i = threadIdx.x; i < m_blocks * steps * 32; i += threads) shared.metadata[i] = a.metadata[i];
    }
  }

  /// Loads the weights of one instruction.
  template <int n>
  __device__ void load(int term, int slice, int block, int step, Word (&a)[n]) const {
    const int slot = ((term * slices + slice) * m_blocks + block) * steps + step;
#pragma unroll
    for (int part = 0; part < slot_parts; ++part) {
      if (part * (16 / int{sizeof(Word)}) >= n) break;
      const uint4 bits = value(slot * slot_parts + part);
      if constexpr (wide) {
        a[2 * part] = __hiloint2double(static_cast<int>(bits.y), static_cast<int>(bits.x));
        if constexpr (n > 1)
          a[2 * part + 1] = __hiloint2double(static_cast<int>(bits.w), static_cast<int>(bits.z));
      } else {
        a[0] = bits.x;
        a[1] = bits.y;
        if constexpr (n == 4) {
          a[2] = bits.z;
          a[3] = bits.w;
        }
      }
    }
  }

  __device__ unsigned metadata(int block, int step) const {
    const int i = block * steps + step;
    if constexpr (!sparse)
      return 0;
    else if constexpr (weights_in_registers)
      return metadata_[i];
    else if constexpr (weights_in_shared)
      return shared_.metadata[i * 32 + lane_];
    else
      return a_.metadata[i * 32 + lane_];
  }

 private:
  __device__ uint4 value(int i) const {
    if constexpr (weights_in_registers)
      return value_[i];
    else if constexpr (weights_in_shared)
      return load_shared_again(&shared_.weights[i * 32 + lane_]);
    else
      return load_global_again(static_cast<const uint4*>(a_.weights) + i * 32 + lane_);
  }

  const MmaSharedMemory& shared_;
  const MmaArguments& a_;
  int lane_;
  uint4 value_[weights_in_registers ? slots * slot_parts : 1];
  unsigned metadata_[weights_in_registers && sparse ? m_blocks * steps : 1];
};

/// Adds A B to the sum for n registers of B in one format.
template <Element format, int n, int a_registers>
__device__ inline void multiply_add(float (&sum)[4], const unsigned (&a)[a_registers], const unsigned (&b)[n],
                                    unsigned metadata) {
  if constexpr (sparse)
    sparse_mma<format, n*(format == Element::tf32 ? 4 : 8), 0>(sum, a, b, metadata);
  else
    dense_mma<format>(sum, a, b);
}

/// Adds the products of a step of n registers, smallest terms first.
template <int n, int a_registers>
__device__ inline void multiply_add(Compute (&sum)[4], const Word (&a)[terms][a_registers],
                                    const Word (&b)[terms][b_words<n>], unsigned metadata) {
  if constexpr (wide) {
    dense_mma<n>(sum, b[0], a[0]);
  } else if constexpr (terms == 1) {
    multiply_add<element, n>(sum, a[0], b[0], metadata);
  } else {
    // Tensor cores truncate sums instead of rounding. Sums of first terms are exact
    // (kernels/sparse/split.hpp: leading_grid), so they are kept apart from the others, and both are added
    // outside tensor cores.
    Compute larger[4] = {}, smaller[4] = {};
#pragma unroll
    for (int order = terms - 1; order > 0; --order)
#pragma unroll
      for (int i = 0; i <= order; ++i) multiply_add<element, n>(smaller, a[i], b[order - i], metadata);
    multiply_add<element, n>(larger, a[0], b[0], metadata);
#pragma unroll
    for (int i = 0; i < 4; ++i) sum[i] += larger[i] + smaller[i];
  }
}

}  // namespace spsolve::cuda
