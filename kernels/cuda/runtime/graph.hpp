// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>

namespace spsolve::cuda {

/// Work on a stream, and on others that events tie to it, enqueued by one call.
class Graph {
 public:
  /// Captures what `enqueue` enqueues; nothing runs. It must neither wait for the device nor take memory.
  Graph(cudaStream_t stream, const std::function<void()>& enqueue);
  void launch(cudaStream_t stream) const;

 private:
  struct Destroy {
    void operator()(cudaGraphExec_t handle) const { cudaGraphExecDestroy(handle); }
  };
  std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, Destroy> handle_;
};

}  // namespace spsolve::cuda
