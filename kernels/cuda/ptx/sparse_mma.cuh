// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace spsolve::cuda {

/// Names the operand formats of sparse tensor cores; tf32 is the 19 high bits of an fp32 number.
enum class Element { fp16, bf16, tf32 };

/// Is the number of 32-bit registers of A, and of B, that a lane holds for mma.sp.m16n8k<k>.
template <Element element, int k>
constexpr int operand_registers = element == Element::tf32 ? k / 4 : k / 8;

/// Computes D += A B with A 16 x k in 2:4 form (tf32: 1:2), B k x 8 and fp32 accumulation:
/// mma.sp::ordered_metadata, sm_80 and newer (PTX ISA, "Multiply-and-accumulate using mma.sp with sparse
/// matrix A").
///
/// kernels/sparse/mma_shape.hpp says which register holds which matrix element; pack() makes `a` and
/// `metadata` in the form needed here. `selector` says which lanes of each group of four provide the
/// metadata: 0 to 3 for the smaller k of a format, 0 or 1 for the larger.
template <Element element, int k, int selector>
__device__ inline void sparse_mma(float (&d)[4], const unsigned (&a)[operand_registers<element, k>],
                                  const unsigned (&b)[operand_registers<element, k>], unsigned metadata) {
  if constexpr (element == Element::fp16 && k == 32) {
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, %13;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),
          "r"(metadata), "n"(selector));
  } else if constexpr (element == Element::bf16 && k == 32) {
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, %13;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),
          "r"(metadata), "n"(selector));
  } else if constexpr (element == Element::tf32 && k == 16) {
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, %13;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),
          "r"(metadata), "n"(selector));
  } else if constexpr (element == Element::fp16 && k == 16) {
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%0, %1, %2, %3}, %8, %9;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(metadata), "n"(selector));
  } else if constexpr (element == Element::bf16 && k == 16) {
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%0, %1, %2, %3}, %8, %9;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(metadata), "n"(selector));
  } else {
    static_assert(element == Element::tf32 && k == 8, "there is no such mma.sp");
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%0, %1, %2, %3}, %8, %9;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(metadata), "n"(selector));
  }
}

}  // namespace spsolve::cuda
