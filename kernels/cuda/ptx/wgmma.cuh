// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file wraps the descriptors, fences and waits around wgmma of sm_90a, one instruction per function (PTX
// ISA, "Asynchronous warpgroup-level matrix multiply-accumulate"). kernels/cuda/ptx/wgmma_text.hpp generates
// the products themselves.

namespace spsolve::cuda {

/// Returns the descriptor of a K-major operand tile in shared memory. Its rows are `swizzle_bytes` long,
/// swizzled as the tensor copy engine does; the tile begins at a multiple of 8 rows. A later k is addressed
/// by adding its byte offset within the rows.
__device__ inline unsigned long long wgmma_descriptor(const void* tile, int swizzle_bytes) {
  const unsigned long long address = __cvta_generic_to_shared(tile);
  const unsigned long long mode = swizzle_bytes == 128 ? 1 : swizzle_bytes == 64 ? 2 : 3;
  const unsigned long long eight_rows = 8 * swizzle_bytes;
  return (address & 0x3ffff) >> 4 | 1ull << 16 | eight_rows >> 4 << 32 | mode << 62;
}

/// Orders register accesses before the next wgmma.
__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
/// Closes the open group of products.
__device__ inline void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Waits until at most the `groups` newest groups of products are in flight.
template <int groups>
__device__ inline void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
}

}  // namespace spsolve::cuda
