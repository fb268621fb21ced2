// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>

namespace spsolve::cuda {

/// Holds a CUDA graph: work on a stream, and on other streams tied to it by events, that one call enqueues.
class Graph {
 public:
  /// Captures the work that `enqueue` puts on the stream; nothing runs yet. `enqueue` must neither wait for
  /// the device nor allocate memory.
  Graph(cudaStream_t stream, const std::function<void()>& enqueue);
  void launch(cudaStream_t stream) const;

 private:
  struct DestroyExecutable {
    void operator()(cudaGraphExec_t handle) const { cudaGraphExecDestroy(handle); }
  };
  std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, DestroyExecutable> handle_;
};

}  // namespace spsolve::cuda
