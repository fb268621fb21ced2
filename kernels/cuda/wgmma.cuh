// SPDX-License-Identifier: Apache-2.0
#pragma once

// Warpgroup-level matrix multiply of sm_90a, one instruction per function (PTX ISA, "Asynchronous
// warpgroup-level matrix multiply-accumulate"): D (64 x 256, fp32) = A B + D with A 64 x k and B k x 256,
// both K-major. Register i of D in lane l of warp w: row 16 w + l / 4 + 8 (i / 2 % 2), column 8 (i / 4) + 2
// (l % 4)
// + i % 2.

namespace spsolve::cuda {

enum class WgmmaFormat { fp16, bf16, tf32, e4m3 };

/// Shared memory of a K-major operand tile whose rows are `swizzle_bytes` long and swizzled as the tensor
/// copy engine does; it begins at a multiple of 8 rows. A later k begins by so many bytes further in the same
/// rows.
__device__ inline unsigned long long wgmma_descriptor(const void* tile, int swizzle_bytes) {
  const unsigned long long address = __cvta_generic_to_shared(tile);
  const unsigned long long mode = swizzle_bytes == 128 ? 1 : swizzle_bytes == 64 ? 2 : 3;
  const unsigned long long eight_rows = 8 * swizzle_bytes;
  return (address & 0x3ffff) >> 4 | 1ull << 16 | eight_rows >> 4 << 32 | mode << 62;
}

__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Waits until at most `groups` of the newest groups are still under way.
template <int groups>
__device__ inline void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
}

// The 128 registers of D as text and as operands: written once, since asm takes literals only.
// clang-format off
#define SPSOLVE_WGMMA_D \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}"
#define SPSOLVE_WGMMA_OPERANDS(d) \
  "+f"((d)[0]), "+f"((d)[1]), "+f"((d)[2]), "+f"((d)[3]), "+f"((d)[4]), "+f"((d)[5]), "+f"((d)[6]), "+f"((d)[7]), \
  "+f"((d)[8]), "+f"((d)[9]), "+f"((d)[10]), "+f"((d)[11]), "+f"((d)[12]), "+f"((d)[13]), "+f"((d)[14]), "+f"((d)[15]), \
  "+f"((d)[16]), "+f"((d)[17]), "+f"((d)[18]), "+f"((d)[19]), "+f"((d)[20]), "+f"((d)[21]), "+f"((d)[22]), "+f"((d)[23]), \
  "+f"((d)[24]), "+f"((d)[25]), "+f"((d)[26]), "+f"((d)[27]), "+f"((d)[28]), "+f"((d)[29]), "+f"((d)[30]), "+f"((d)[31]), \
  "+f"((d)[32]), "+f"((d)[33]), "+f"((d)[34]), "+f"((d)[35]), "+f"((d)[36]), "+f"((d)[37]), "+f"((d)[38]), "+f"((d)[39]), \
  "+f"((d)[40]), "+f"((d)[41]), "+f"((d)[42]), "+f"((d)[43]), "+f"((d)[44]), "+f"((d)[45]), "+f"((d)[46]), "+f"((d)[47]), \
  "+f"((d)[48]), "+f"((d)[49]), "+f"((d)[50]), "+f"((d)[51]), "+f"((d)[52]), "+f"((d)[53]), "+f"((d)[54]), "+f"((d)[55]), \
  "+f"((d)[56]), "+f"((d)[57]), "+f"((d)[58]), "+f"((d)[59]), "+f"((d)[60]), "+f"((d)[61]), "+f"((d)[62]), "+f"((d)[63]), \
  "+f"((d)[64]), "+f"((d)[65]), "+f"((d)[66]), "+f"((d)[67]), "+f"((d)[68]), "+f"((d)[69]), "+f"((d)[70]), "+f"((d)[71]), \
  "+f"((d)[72]), "+f"((d)[73]), "+f"((d)[74]), "+f"((d)[75]), "+f"((d)[76]), "+f"((d)[77]), "+f"((d)[78]), "+f"((d)[79]), \
  "+f"((d)[80]), "+f"((d)[81]), "+f"((d)[82]), "+f"((d)[83]), "+f"((d)[84]), "+f"((d)[85]), "+f"((d)[86]), "+f"((d)[87]), \
  "+f"((d)[88]), "+f"((d)[89]), "+f"((d)[90]), "+f"((d)[91]), "+f"((d)[92]), "+f"((d)[93]), "+f"((d)[94]), "+f"((d)[95]), \
  "+f"((d)[96]), "+f"((d)[97]), "+f"((d)[98]), "+f"((d)[99]), "+f"((d)[100]), "+f"((d)[101]), "+f"((d)[102]), "+f"((d)[103]), \
  "+f"((d)[104]), "+f"((d)[105]), "+f"((d)[106]), "+f"((d)[107]), "+f"((d)[108]), "+f"((d)[109]), "+f"((d)[110]), "+f"((d)[111]), \
  "+f"((d)[112]), "+f"((d)[113]), "+f"((d)[114]), "+f"((d)[115]), "+f"((d)[116]), "+f"((d)[117]), "+f"((d)[118]), "+f"((d)[119]), \
  "+f"((d)[120]), "+f"((d)[121]), "+f"((d)[122]), "+f"((d)[123]), "+f"((d)[124]), "+f"((d)[125]), "+f"((d)[126]), "+f"((d)[127])
// clang-format on

/// Columns of A, and rows of B, of one dense instruction: 32 bytes; a sparse one takes twice as many.
template <WgmmaFormat format>
constexpr int wgmma_k = format == WgmmaFormat::tf32   ? 8
                        : format == WgmmaFormat::e4m3 ? 32
                                                      : 16;

/// D = A B, plus D where `add`.
template <WgmmaFormat format>
__device__ inline void wgmma(float (&d)[128], unsigned long long a, unsigned long long b, bool add) {
  if constexpr (format == WgmmaFormat::fp16)
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %130, 0; "
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 " SPSOLVE_WGMMA_D
        ", %128, %129, p, 1, 1, 0, 0; }"
        : SPSOLVE_WGMMA_OPERANDS(d)
        : "l"(a), "l"(b), "r"(static_cast<int>(add)));
  else if constexpr (format == WgmmaFormat::bf16)
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %130, 0; "
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 " SPSOLVE_WGMMA_D
        ", %128, %129, p, 1, 1, 0, 0; }"
        : SPSOLVE_WGMMA_OPERANDS(d)
        : "l"(a), "l"(b), "r"(static_cast<int>(add)));
  else if constexpr (format == WgmmaFormat::tf32)
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %130, 0; "
        "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 " SPSOLVE_WGMMA_D ", %128, %129, p, 1, 1; }"
        : SPSOLVE_WGMMA_OPERANDS(d)
        : "l"(a), "l"(b), "r"(static_cast<int>(add)));
  else
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %130, 0; "
        "wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 " SPSOLVE_WGMMA_D ", %128, %129, p, 1, 1; }"
        : SPSOLVE_WGMMA_OPERANDS(d)
        : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}

/// The same with A in 2:4 form (tf32: 1:2). Metadata as of mma.sp, rows 16 w to 16 w + 15 in warp w;
/// `selector` says which pair of lanes of each four deliver it, 0 for e4m3, where all do.
template <WgmmaFormat format, int selector>
__device__ inline void wgmma_sparse(float (&d)[128], unsigned long long a, unsigned long long b,
                                    unsigned metadata, bool add) {
  if constexpr (format == WgmmaFormat::fp16)
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %132, 0; "
        "wgmma.mma_async.sp.sync.aligned.m64n256k32.f32.f16.f16 " SPSOLVE_WGMMA_D
        ", %128, %129, %130, %131, p, 1, 1, 0, 0; }"
        : SPSOLVE_WGMMA_OPERANDS(d)
        : "l"(a), "l"(b), "r"(metadata), "n"(selector), "r"(static_cast<int>(add)));
  else if constexpr (format == WgmmaFormat::bf16)
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %132, 0; "
        "wgmma.mma_async.sp.sync.aligned.m64n256k32.f32.bf16.bf16 " SPSOLVE_WGMMA_D
        ", %128, %129, %130, %131, p, 1, 1, 0, 0; }"
        : SPSOLVE_WGMMA_OPERANDS(d)
        : "l"(a), "l"(b), "r"(metadata), "n"(selector), "r"(static_cast<int>(add)));
  else if constexpr (format == WgmmaFormat::tf32)
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %132, 0; "
        "wgmma.mma_async.sp.sync.aligned.m64n256k16.f32.tf32.tf32 " SPSOLVE_WGMMA_D
        ", %128, %129, %130, %131, p, 1, 1; }"
        : SPSOLVE_WGMMA_OPERANDS(d)
        : "l"(a), "l"(b), "r"(metadata), "n"(selector), "r"(static_cast<int>(add)));
  else
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %132, 0; "
        "wgmma.mma_async.sp.sync.aligned.m64n256k64.f32.e4m3.e4m3 " SPSOLVE_WGMMA_D
        ", %128, %129, %130, %131, p, 1, 1; }"
        : SPSOLVE_WGMMA_OPERANDS(d)
        : "l"(a), "l"(b), "r"(metadata), "n"(selector), "r"(static_cast<int>(add)));
}

/// The same in fp16 with A in registers, as of mma.sp m16n8k32.
template <int selector>
__device__ inline void wgmma_sparse(float (&d)[128], const unsigned (&a)[4], unsigned long long b,
                                    unsigned metadata, bool add) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %135, 0; "
      "wgmma.mma_async.sp.sync.aligned.m64n256k32.f32.f16.f16 " SPSOLVE_WGMMA_D
      ", {%128, %129, %130, %131}, %132, %133, %134, p, 1, 1, 0; }"
      : SPSOLVE_WGMMA_OPERANDS(d)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(metadata), "n"(selector),
        "r"(static_cast<int>(add)));
}

#undef SPSOLVE_WGMMA_D
#undef SPSOLVE_WGMMA_OPERANDS

}  // namespace spsolve::cuda
