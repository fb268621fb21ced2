// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file wraps asynchronous copies to shared memory and the barriers (mbarrier) that they complete on, one
// PTX instruction per function. PTX ISA 8.x, sections 9.7.9.25 (asynchronous copy) and 9.7.13.15 (mbarrier).

#include "kernels/cuda/ptx/tensor_map.hpp"

namespace spsolve::cuda {

/// Returns the 32-bit address of a pointer in the shared memory window.
__device__ inline unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/// Loads 16 bytes of shared memory at this point of the program; the compiler cannot move the load out of a
/// loop.
__device__ inline uint4 load_now(const uint4* shared) {
  uint4 value;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "r"(shared_address(shared)));
  return value;
}

/// Loads four floats of global memory at this point of the program, instead of at their first use.
__device__ inline void load_now(const float* global, float* to) {
  asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "l"(__cvta_generic_to_global(global)));
}

/// Prefetches the cache line at `global` to the L2 cache. The address must lie inside a field.
__device__ inline void prefetch(const void* global) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(global)));
}

/// Initialises a barrier whose phase completes after `arrivals` arrivals and all announced copies.
__device__ inline void mbarrier_init(unsigned long long* barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals)
               : "memory");
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/// Makes initialised barriers visible to the copy engine.
__device__ inline void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// Returns true in one lane of a warp, whose lanes all call this. The compiler knows that a single lane goes
/// on where this is true, and makes no loop over lanes at every copy.
__device__ inline bool elect_lane() {
  unsigned elected;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected));
  return elected != 0;
}

/// Arrives on the barrier and announces `bytes` bytes of copies that complete on it.
__device__ inline void mbarrier_expect(unsigned long long* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
}

/// Returns whether the phase with this parity is complete. The hardware suspends the thread for a while
/// before it answers false.
__device__ inline bool mbarrier_try_wait(unsigned long long* barrier, unsigned parity) {
  unsigned done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(shared_address(barrier)), "r"(parity)
               : "memory");
  return done != 0;
}
/// Waits until the phase with this parity is complete.
__device__ inline void mbarrier_wait(unsigned long long* barrier, unsigned parity) {
  while (!mbarrier_try_wait(barrier, parity)) {
  }
}

/// Copies the box of the tensor map that begins at {x, y, z} to shared memory; the copy completes on the
/// barrier. `shared` is aligned to 128 bytes; x addresses a multiple of 16 bytes.
__device__ inline void tensor_copy(void* shared, const TensorMap& map, int x, int y, int z,
                                   unsigned long long* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], "
      "[%5];" ::"r"(shared_address(shared)),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(shared_address(barrier))
      : "memory");
}

/// Copies a box of a tensor map with four axes.
__device__ inline void tensor_copy(void* shared, const TensorMap& map, const int (&at)[4],
                                   unsigned long long* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, "
      "%5}], [%6];" ::"r"(shared_address(shared)),
      "l"(&map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(shared_address(barrier))
      : "memory");
}

/// Copies a box of a three-axis map to every block of the cluster whose bit is set in `blocks` (multicast).
/// Data and completion go to the same offsets of shared memory in each block.
__device__ inline void tensor_copy(void* shared, const TensorMap& map, int x, int y, int z,
                                   unsigned long long* barrier, unsigned short blocks) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
      "[%1, "
      "{%2, %3, %4}], [%5], %6;" ::"r"(shared_address(shared)),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(shared_address(barrier)), "h"(blocks)
      : "memory");
}

/// Copies contiguous bytes; address and size are multiples of 16.
__device__ inline void bulk_copy(void* shared, const void* global, unsigned bytes,
                                 unsigned long long* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          shared_address(shared)),
      "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

/// Arrives on the barrier at the same offset in another block of the cluster. The arrival has the default
/// scope (this block): it only announces that reads have ended, and a release with cluster scope would wait
/// for all memory operations.
__device__ inline void mbarrier_arrive_in(unsigned long long* barrier, unsigned block) {
  asm volatile(
      "{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1; "
      "mbarrier.arrive.shared::cluster.b64 _, [there]; }" ::"r"(shared_address(barrier)),
      "r"(block)
      : "memory");
}

/// Returns the rank of this block in its cluster.
__device__ inline unsigned cluster_rank() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
/// Waits until all threads of all blocks of the cluster have arrived.
__device__ inline void cluster_synchronize() {
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}
#endif

/// Copies 16 bytes (cp.async) as part of the thread's open group.
__device__ inline void copy_16_bytes(void* shared, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(shared)),
               "l"(__cvta_generic_to_global(global))
               : "memory");
}
/// Copies the nth 16 bytes counted from `first`. The address is computed inside the asm text because NVVM
/// would recompute each address from scratch.
__device__ inline void copy_nth_16_bytes(void* shared, const void* first, int nth) {
  asm volatile(
      "{\n\t.reg .u64 from;\n\tmad.wide.s32 from, %2, 16, %1;\n\t"
      "cp.async.cg.shared.global [%0], [from], 16;\n\t}" ::"r"(shared_address(shared)),
      "l"(__cvta_generic_to_global(first)), "r"(nth)
      : "memory");
}
/// Writes 16 bytes: copies the first `bytes` of them and fills the others with zeros. `global` must be a
/// valid address in any case.
__device__ inline void copy_bytes_then_zeros(void* shared, const void* global, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(shared)),
               "l"(__cvta_generic_to_global(global)), "r"(bytes)
               : "memory");
}
/// Copies 16 bytes if `copy`, else writes 16 zero bytes. `global` must be a valid address in both cases.
__device__ inline void copy_16_bytes_or_zero(void* shared, const void* global, bool copy) {
  copy_bytes_then_zeros(shared, global, copy ? 16 : 0);
}
/// Closes the thread's open group of copies.
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Waits until at most the `groups` newest groups of the thread are still in flight.
template <int groups>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
}

}  // namespace spsolve::cuda
