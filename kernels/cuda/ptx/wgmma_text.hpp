// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace spsolve::cuda {

/// Warpgroup-level D = A B + D of sm_90a (PTX ISA, "Asynchronous warpgroup-level matrix
/// multiply-accumulate"): D 64 x n in fp32, A 64 x k, B k x n, both K-major; B and, unless in registers, A in
/// shared memory.
struct WgmmaInstruction {
  std::string type = "f16";  // of A and B: f16, bf16, tf32, e4m3
  int n = 256;
  bool sparse = true;  // A in 2:4 form (tf32: 1:2), of twice the k
  bool a_in_registers = false;

  /// 32 bytes of dense rows.
  int k() const { return (type == "tf32" ? 8 : type == "e4m3" ? 32 : 16) * (sparse ? 2 : 1); }
};

/// The instruction as a function of kernels,
///   template <int selector, class A>
///   void name(float (&d)[n / 2], const A& a, unsigned long long b, unsigned metadata, bool add)
/// that leaves D out where not `add`; asm takes literals only, so the text is made for each n. `a` is a
/// descriptor of shared memory as `b` is, or four registers as mma.sp has them; metadata, of sparse ones, as
/// of mma.sp, rows 16 w to 16 w + 15 in warp w, and `selector` says which pair of lanes of each four deliver
/// it (0 for e4m3, where all do). Register i of D in lane l of warp w: row 16 w + l / 4 + 8 (i / 2 % 2),
/// column 8 (i / 4) + 2 (l % 4) + i % 2.
std::string wgmma_function(const char* name, const WgmmaInstruction& what);

}  // namespace spsolve::cuda
