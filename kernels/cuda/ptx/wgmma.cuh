// SPDX-License-Identifier: Apache-2.0
#pragma once

// What comes before and after wgmma of sm_90a, one instruction per function (PTX ISA, "Asynchronous
// warpgroup-level matrix multiply-accumulate"). The products themselves: kernels/cuda/wgmma_text.hpp.

namespace spsolve::cuda {

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

}  // namespace spsolve::cuda
