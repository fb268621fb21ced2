// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/runtime/device.hpp"
#include "kernels/fused_unit.hpp"

namespace spsolve::cuda {

/// A stream beside another one, of high priority: what is short begins first.
class StreamBranch : public Branch {
 public:
  explicit StreamBranch(cudaStream_t trunk) : trunk_(trunk), branch_(Stream::Priority::high) {}

  cudaStream_t stream() const { return branch_; }
  void fork() const override { order(trunk_, forked_, branch_); }
  void join() const override { order(branch_, joined_, trunk_); }

 private:
  static void order(cudaStream_t first, const Event& event, cudaStream_t second) {
    event.record(first);
    check_cuda(cudaStreamWaitEvent(second, event));
  }

  cudaStream_t trunk_;
  Stream branch_;
  Event forked_, joined_;
};

}  // namespace spsolve::cuda
