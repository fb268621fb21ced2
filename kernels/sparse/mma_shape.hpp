// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

#include "kernels/precision.hpp"
#include "kernels/sparse/sparsity.hpp"

namespace spsolve {

/// Returns the number of operand elements in a 32-bit word: 2 for 16-bit formats, otherwise 1.
constexpr int elements_per_word(Precision element) { return storage_bytes(element) == 2 ? 2 : 1; }

/// Describes a sparse tensor-core instruction D = A B + D with fp32 accumulation: A is 16 x k (2:4, or 1:2
/// for tf32) and B is k x 8. The instruction mma.sp has M = 16. One wgmma.sp equals four of them, one per
/// warp, with the larger k and up to 256 columns of B. Registers are 32 bits wide. The formulas below count
/// such words, so one rule covers all formats (PTX ISA, "Matrix fragments for multiply-accumulate operation
/// with sparse matrix A").
struct MmaShape {
  Precision element;  // fp16, bf16 or tf32
  int k;

  friend constexpr bool operator==(const MmaShape&, const MmaShape&) = default;

  constexpr Sparsity sparsity() const { return element == Precision::tf32 ? one_of_two : two_of_four; }
  constexpr int elements_per_word() const { return spsolve::elements_per_word(element); }
  /// Returns the words of one row of A before compression, which are also the words of one column of B.
  constexpr int k_words() const { return k / elements_per_word(); }
  constexpr int a_registers() const { return k_words() / 4; }
  constexpr int b_registers() const { return k_words() / 4; }
  /// Returns the groups in one row of A. A group is 4 half-precision or 2 tf32 columns, described by four
  /// bits of metadata.
  constexpr int metadata_groups() const { return k_words() / 2; }
  /// Returns how many lanes of each four deliver metadata to one instruction; the selector says which.
  constexpr int metadata_lanes() const { return metadata_groups() / 4; }
  constexpr int selectors() const { return 4 / metadata_lanes(); }
};

constexpr int mma_rows = 16, mma_columns = 8, warp_lanes = 32;

constexpr MmaShape m16n8k16_fp16{Precision::fp16, 16}, m16n8k32_fp16{Precision::fp16, 32};
constexpr MmaShape m16n8k16_bf16{Precision::bf16, 16}, m16n8k32_bf16{Precision::bf16, 32};
constexpr MmaShape m16n8k8_tf32{Precision::tf32, 8}, m16n8k16_tf32{Precision::tf32, 16};

/// Returns the shape that does the most work per instruction. wgmma.sp has only this one.
constexpr MmaShape widest_mma(Precision element) {
  switch (element) {
    case Precision::fp16:
      return m16n8k32_fp16;
    case Precision::bf16:
      return m16n8k32_bf16;
    case Precision::tf32:
      return m16n8k16_tf32;
    default:
      throw std::invalid_argument("sparse tensor cores take fp16, bf16 and tf32 operands");
  }
}

// The functions below return the position of an element in lane l and register i; g = l / 4, q = l % 4.

/// Return the row of A, and the word of the compressed row, in register i of A.
constexpr int a_row(int lane, int i) { return lane / 4 + 8 * (i % 2); }
constexpr int a_word(int lane, int i) { return lane % 4 + 4 * (i / 2); }
/// Return the word in the column of B, and the column, in register i of B.
constexpr int b_word(int lane, int i) { return lane % 4 + 4 * i; }
constexpr int b_column(int lane) { return lane / 4; }
/// Return the row and column of the accumulator in register i of C and D.
constexpr int c_row(int lane, int i) { return lane / 4 + 8 * (i / 2); }
constexpr int c_column(int lane, int i) { return 2 * (lane % 4) + i % 2; }

/// Holds the lane, and the lowest of the four metadata bits, for a row and group of A.
struct MetadataPlace {
  int lane, bit;
};
constexpr MetadataPlace metadata_place(const MmaShape& mma, int row, int group, int selector) {
  return {4 * (row % 8) + selector * mma.metadata_lanes() + group / 4, 16 * (row / 8) + 4 * (group % 4)};
}

}  // namespace spsolve
