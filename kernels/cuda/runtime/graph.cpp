// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/runtime/graph.hpp"

#include <utility>

#include "kernels/cuda/runtime/device.hpp"

namespace spsolve::cuda {
namespace {

/// Guards a stream capture: if an exception leaves it unfinished, the destructor ends the capture, so that
/// the stream can be used again.
class Capture {
 public:
  explicit Capture(cudaStream_t stream) : stream_(stream) {
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  }
  ~Capture() {
    if (stream_) destroy(end());
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  struct DestroyGraph {
    void operator()(cudaGraph_t graph) const { destroy(graph); }
  };
  using Captured = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, DestroyGraph>;

  Captured finish() {
    cudaGraph_t graph = nullptr;
    check_cuda(cudaStreamEndCapture(std::exchange(stream_, nullptr), &graph));
    return Captured(graph);
  }

 private:
  static void destroy(cudaGraph_t graph) {
    if (graph) cudaGraphDestroy(graph);
  }
  cudaGraph_t end() {
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(stream_, &graph);
    cudaGetLastError();  // the exception that led here already reports the failure
    return graph;
  }

  cudaStream_t stream_;
};

}  // namespace

Graph::Graph(cudaStream_t stream, const std::function<void()>& enqueue) {
  Capture capture(stream);
  enqueue();
  const auto captured = capture.finish();
  cudaGraphExec_t handle = nullptr;
  check_cuda(cudaGraphInstantiate(&handle, captured.get(), cudaGraphInstantiateFlagUseNodePriority));
  handle_.reset(handle);
}

void Graph::launch(cudaStream_t stream) const { check_cuda(cudaGraphLaunch(handle_.get(), stream)); }

}  // namespace spsolve::cuda
