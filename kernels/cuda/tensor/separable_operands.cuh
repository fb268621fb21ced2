// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file holds the operands of separable.cuh and separable_planes.cuh: fragments of data, weights, and
// their products.

#include "kernels/cuda/tensor/separable_stage.cuh"

namespace spsolve::cuda {

/// Holds the registers of B of one window, as stored.
struct Fragment {
  unsigned word[words];
};
/// Is a fragment as operands: rounded to the format, or split into terms.
struct OperandFragment {
  unsigned word[terms][words];
};

__device__ inline unsigned pack_pair(float low, float high) {
  return element == Element::fp16 ? fp16_pair(low, high) : bf16_pair(low, high);
}

/// Returns the 11 high bits of the mantissa, rounded to nearest (Veltkamp 1968; Dekker 1971), on the
/// floating-point pipe, which has room; the second operation is exact. NaN stays NaN whatever its bits;
/// values beyond 4e34 become NaN.
__device__ inline float high_bits(float value) {
  return __fmaf_rn(-8192.0f, value, __fmaf_rn(8192.0f, value, value));
}

/// Returns the operands of a fragment. tf32 is rounded, since the instructions ignore its low 13 bits. fp32
/// is split into its high bits and the rest, whose last bit may be lost, with either sign.
__device__ inline OperandFragment operand_of(const Fragment& fragment) {
  OperandFragment operand;
#pragma unroll
  for (int i = 0; i < words; ++i) {
    if constexpr (tf32) {
      const float value = __uint_as_float(fragment.word[i]), larger = high_bits(value);
      operand.word[0][i] = __float_as_uint(larger);
      if constexpr (terms == 2) operand.word[1][i] = __float_as_uint(__fsub_rn(value, larger));
    } else {
      operand.word[0][i] = fragment.word[i];
    }
  }
  return operand;
}

/// Loads one window of a row, from the lane's chunk on. In a window that is not `paired`, odd lanes read what
/// their neighbours read.
__device__ inline OperandFragment load_window(const Stored* from, bool paired) {
  if (!paired) from -= slab_of_lane(static_cast<int>(threadIdx.x) % 4);
  Fragment fragment;
#pragma unroll
  for (int chunk = 0; chunk < words / 4; ++chunk) {
    const uint4 loaded = reinterpret_cast<const uint4*>(from)[chunk];
    fragment.word[4 * chunk] = loaded.x;
    fragment.word[4 * chunk + 1] = loaded.y;
    fragment.word[4 * chunk + 2] = loaded.z;
    fragment.word[4 * chunk + 3] = loaded.w;
  }
  return operand_of(fragment);
}

/// Converts two accumulators of pass 1 to inputs of pass 2.
__device__ inline void to_fragment(Fragment& to, int r, float left, float right) {
  if constexpr (tf32) {
    to.word[2 * r] = __float_as_uint(left);
    to.word[2 * r + 1] = __float_as_uint(right);
  } else {
    to.word[r] = pack_pair(left, right);
  }
}

/// Returns the fragment whose odd slab comes from `before` and whose even slab comes from `after`.
__device__ inline Fragment join_slabs(const Fragment& before, const Fragment& after) {
  Fragment fragment;
  const bool odd = threadIdx.x & 1;
#pragma unroll
  for (int i = 0; i < words; ++i) fragment.word[i] = odd ? before.word[i] : after.word[i];
  return fragment;
}

/// Holds accumulators of the products of larger terms, and of all other products. Tensor cores truncate sums,
/// but the large ones need no truncation here (kernels/sparse/separable_operand.cpp). The last addition,
/// outside tensor cores, rounds to nearest.
struct Accumulators {
  float of[terms][4] = {};

  __device__ float total(int c) const {
    return terms == 2 ? __fadd_rn(of[0][c], of[terms - 1][c]) : of[0][c];
  }
};

/// Ends a factor: adds its fp32 sums to those of the factors before it (none if it is the `first`), rounded
/// to nearest. Each factor has a scale of its own, and tensor cores would truncate everything below the last
/// bit of the others. With a single term the truncation is below the rounding of operands, so the
/// accumulators go on.
__device__ inline void end_factor(Accumulators& sums, bool first, bool last, float (&out)[4]) {
  if (terms == 1 && !last) return;
#pragma unroll
  for (int c = 0; c < 4; ++c) out[c] = terms == 1 || first ? sums.total(c) : __fadd_rn(out[c], sums.total(c));
  sums = {};
}

/// Holds the weights and metadata of the lane, in registers or in shared memory.
class SeparableWeights {
 public:
  __device__ SeparableWeights(const SeparableArguments& a, SeparableSharedMemory& shared) : shared_(shared) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const auto* values = static_cast<const uint4*>(a.weights);
    if constexpr (weights_in_shared) {
      for (int i = threadIdx.x; i < value_count * 32; i += 32 * warps)
        shared.values[i / 32][i % 32] = values[i];
    } else {
#pragma unroll
      for (int i = 0; i < value_count; ++i) value_[i] = values[i * 32 + lane];
    }
#pragma unroll
    for (int i = 0; i < x_words + y_words; ++i) metadata_[i] = a.metadata[i * 32 + lane];
  }

  /// Holds A of one window, for a factor along one axis.
  template <bool along_y, int window>
  struct WindowWeights {
    uint4 value[terms][instructions];
  };
  template <bool along_y, int window>
  __device__ WindowWeights<along_y, window> get(int factor) const {
    constexpr int per_term = along_y ? y_instructions : x_instructions;
    constexpr int first = (along_y ? x_value_count : 0) + window * instructions;
    WindowWeights<along_y, window> a;
#pragma unroll
    for (int term = 0; term < terms; ++term)
#pragma unroll
      for (int part = 0; part < instructions; ++part)
        a.value[term][part] = value(first + (factor * terms + term) * per_term + part);
    return a;
  }

  /// Adds A B to the sums. `other_pair`: the metadata selects the other pair of lanes (see separable.cuh).
  template <bool other_pair, bool along_y, int window>
  __device__ void multiply(Accumulators& sums, const WindowWeights<along_y, window>& a,
                           const OperandFragment& b) const {
    if constexpr (terms == 2) {
      multiply_terms<other_pair, along_y, window>(sums.of[1], a.value[1], b.word[0]);
      multiply_terms<other_pair, along_y, window>(sums.of[1], a.value[0], b.word[1]);
    }
    multiply_terms<other_pair, along_y, window>(sums.of[0], a.value[0], b.word[0]);
  }

 private:
  template <bool other_pair, bool along_y, int window>
  __device__ void multiply_terms(float (&d)[4], const uint4 (&value)[instructions],
                                 const unsigned (&b)[words]) const {
    static_for<0, instructions>([&](auto part_) {
      constexpr int part = decltype(part_)::value, i = window * instructions + part;
      const unsigned a[4]{value[part].x, value[part].y, value[part].z, value[part].w};
      const unsigned fragment[4]{b[4 * part], b[4 * part + 1], b[4 * part + 2], b[4 * part + 3]};
      const unsigned metadata = metadata_[(along_y ? x_words : 0) + i / 2] ^ (other_pair ? 0xaaaaaaaau : 0u);
      sparse_mma<element, tf32 ? 16 : 32, i % 2>(d, a, fragment, metadata);
    });
  }

  __device__ uint4 value(int i) const {
    if constexpr (weights_in_shared)
      return load_now(&shared_.values[i][threadIdx.x % 32]);  // kept in registers, weights would spill
    else
      return value_[i];
  }

  SeparableSharedMemory& shared_;
  uint4 value_[weights_in_shared ? 1 : value_count];
  unsigned metadata_[x_words + y_words];
};

}  // namespace spsolve::cuda
