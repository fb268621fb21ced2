// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace spsolve::cuda {

/// Describes a warpgroup-level product D = A B + D of sm_90a (PTX ISA, "Asynchronous warpgroup-level matrix
/// multiply-accumulate"). D is 64 x n in fp32, A is 64 x k, B is k x n, both K-major. B lies in shared
/// memory, and so does A unless `a_in_registers`.
struct WgmmaInstruction {
  std::string type = "f16";  // element type of A and B: f16, bf16, tf32 or e4m3
  int n = 256;
  bool sparse = true;  // A is in 2:4 form (tf32: 1:2); k is then twice that of a dense product
  bool a_in_registers = false;

  /// Returns k of one instruction, which covers 32 bytes of a dense row.
  int k() const { return (type == "tf32" ? 8 : type == "e4m3" ? 32 : 16) * (sparse ? 2 : 1); }
};

/// Returns the text of a kernel function that issues the instruction,
///   template <int selector, class A>
///   void name(float (&d)[n / 2], const A& a, unsigned long long b, unsigned metadata, bool add)
/// If `add` is false, D is overwritten instead of accumulated. The text is generated for each n because asm
/// accepts only literals.
///
/// `b` is a descriptor of shared memory; `a` is a descriptor, too, or four registers laid out as for mma.sp.
/// `metadata` is used by sparse products only and is laid out as for mma.sp, rows 16 w to 16 w + 15 in warp
/// w. `selector` says which pair of lanes of each group of four provides the metadata (0 for e4m3, where all
/// lanes do).
///
/// Register i of D in lane l of warp w holds row 16 w + l / 4 + 8 (i / 2 % 2), column 8 (i / 4) + 2 (l % 4) +
/// i % 2.
std::string wgmma_function(const char* name, const WgmmaInstruction& what);

}  // namespace spsolve::cuda
