// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file holds the kernel arguments of ceilings.cuh. Both the host compiler and NVRTC read this file: it
// has no includes.

namespace spsolve::cuda {

/// Names the instruction that the kernel wraps. `sp` says that A has 2:4 form (tf32: 1:2), and `f16` that
/// accumulators are fp16; other accumulators are fp32 (int8: int32). `wgmma` is for any type and form.
enum class Instruction {
  copy,
  shared_read,
  fma_fp16,
  fma_fp32,
  fma_fp64,
  mma_fp16,
  mma_fp16_f16,
  mma_bf16,
  mma_tf32,
  mma_int8,
  mma_fp64,
  mma_fp64_m8n8k4,
  mma_sp_fp16_k16,
  mma_sp_fp16,
  mma_sp_fp16_f16,
  mma_sp_bf16,
  mma_sp_tf32,
  mma_sp_int8,
  wgmma,
};

/// These are the threads of a block, and the instructions of a warp (wgmma: of four warps) per repeat.
constexpr int ceiling_threads = 256, ceiling_chains = 8;

/// Holds the arguments of one launch of ceilings.cuh.
struct CeilingArguments {
  const void* in;  // copy
  void* out;  // copy: destination; else one word per thread of the grid, so that the compiler removes nothing
  long long wraps;  // how often instructions are repeated; copy: number of 16-byte words
};

}  // namespace spsolve::cuda
