// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/ptx/async_copy.cuh"

namespace spsolve::cuda {

/// Takes turns with the stages of a pipeline in shared memory: copies fill them, and the threads of the block
/// read them, in the same order.
///
/// On sm_90 each stage has an mbarrier, on which the copies complete. On sm_80 the copies of a stage are one
/// cp.async group of every thread, and groups are counted, including empty ones.
template <int stages>
class StagePipeline {
 public:
  __device__ explicit StagePipeline(unsigned long long (&full)[stages]) : full_(full) {}

  /// Initialises the barriers on sm_90. A barrier of the block must follow.
  __device__ void initialise() const {
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < stages; ++stage) mbarrier_init(&full_[stage], 1);
      fence_mbarrier_init();
    }
#endif
  }

  /// Returns the stage to fill next, and its barrier.
  __device__ int stage_to_fill() const { return fill_; }
  __device__ unsigned long long* full() const { return &full_[fill_]; }
  /// Goes on to the next stage to fill.
  __device__ void advance() { fill_ = fill_ + 1 == stages ? 0 : fill_ + 1; }
  /// Closes the cp.async group of a stage on sm_80. Call it also where no stage is left to fill.
  __device__ static void commit() {
#if __CUDA_ARCH__ < 900
    commit_copies();
#endif
  }

  /// Waits until the next stage has arrived and returns it. Copies of later stages may be in flight. On sm_80
  /// a thread waits for its own copies only, so `synchronise` must be a barrier of the block there.
  template <class Synchronise>
  __device__ int wait(Synchronise&& synchronise) {
    const int stage = read_;
#if __CUDA_ARCH__ >= 900
    mbarrier_wait(&full_[stage], parity_);
    if (stage + 1 == stages) parity_ ^= 1;
#else
    wait_for_copies<(stages > 1 ? stages - 2 : 0)>();
#endif
    synchronise();
    read_ = stage + 1 == stages ? 0 : stage + 1;
    return stage;
  }

 private:
  unsigned long long (&full_)[stages];
  int fill_ = 0, read_ = 0;
  unsigned parity_ = 0;
};

}  // namespace spsolve::cuda
