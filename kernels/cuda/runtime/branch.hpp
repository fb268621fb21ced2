// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/runtime/device.hpp"
#include "kernels/cuda/runtime/stream.hpp"
#include "kernels/fused_unit.hpp"

namespace spsolve::cuda {

/// Forks a high-priority stream from a trunk stream and joins it again. Its priority lets short work start
/// before the long kernels of the trunk.
class StreamBranch : public Branch {
 public:
  explicit StreamBranch(cudaStream_t trunk) : trunk_(trunk), branch_(Stream::Priority::high) {}

  cudaStream_t stream() const { return branch_; }
  void fork() const override { order(trunk_, forked_, branch_); }
  void join() const override { order(branch_, joined_, trunk_); }

 private:
  /// Makes `second` wait for everything enqueued on `first` so far.
  static void order(cudaStream_t first, const Event& event, cudaStream_t second) {
    event.record(first);
    check_cuda(cudaStreamWaitEvent(second, event));
  }

  cudaStream_t trunk_;
  Stream branch_;
  Event forked_, joined_;
};

}  // namespace spsolve::cuda
