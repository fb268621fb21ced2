// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file wraps copies from shared to global memory by the tensor copy engine (sm_90), and barriers of some
// threads of a block, one instruction per function. PTX ISA 8.x, sections 9.7.9.27 (cp.async.bulk.tensor),
// 9.7.13.1 (bar) and 9.7.13.15 (mbarrier).

#include "kernels/cuda/ptx/async_copy.cuh"

namespace spsolve::cuda {

/// Synchronises `threads` threads (whole warps) on one of the named barriers 1 to 15 of the block.
template <int threads>
__device__ inline void synchronize_threads(int barrier) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(threads) : "memory");
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/// Set the number of registers of every thread of a warpgroup to `registers`, a multiple of 8 (PTX ISA 8.x,
/// section 9.7.19.5, setmaxnreg). All four warps call them. give_registers_away() lowers the number that the
/// kernel starts with. take_registers() raises it, and waits until other warpgroups have given registers
/// away.
template <int registers>
__device__ inline void give_registers_away() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers>
__device__ inline void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

/// Arrives on a barrier of this block.
__device__ inline void mbarrier_arrive(unsigned long long* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/// Makes this thread's writes to shared memory visible to the copy engine.
__device__ inline void fence_for_copy_engine() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Copies a box from shared memory to {x, y, z} of the map, as part of the thread's open group. Elements
/// outside the map are not written.
__device__ inline void tensor_store(const TensorMap& map, int x, int y, int z, const void* shared) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(&map),
               "r"(x), "r"(y), "r"(z), "r"(shared_address(shared))
               : "memory");
}
/// Closes the thread's open group of stores.
__device__ inline void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
/// Waits until the engine has read the shared memory of all but the thread's `groups` newest groups, so that
/// it can be overwritten.
template <int groups>
__device__ inline void wait_for_stores_to_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(groups) : "memory");
}
#endif

}  // namespace spsolve::cuda
