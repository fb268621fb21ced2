// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/runtime/stream.hpp"

#include "kernels/cuda/runtime/device.hpp"

namespace spsolve::cuda {

Stream::Stream(Priority priority) {
  int least = 0, greatest = 0;
  check_cuda(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  check_cuda(cudaStreamCreateWithPriority(&handle_, cudaStreamNonBlocking,
                                          priority == Priority::low      ? least
                                          : priority == Priority::normal ? (least + greatest) / 2
                                                                         : greatest));
}
Stream::~Stream() { cudaStreamDestroy(handle_); }
void Stream::synchronize() const { check_cuda(cudaStreamSynchronize(handle_)); }

Event::Event(bool timed) {
  check_cuda(cudaEventCreateWithFlags(&handle_, timed ? cudaEventDefault : cudaEventDisableTiming));
}
Event::~Event() { cudaEventDestroy(handle_); }
void Event::record(cudaStream_t stream) const { check_cuda(cudaEventRecord(handle_, stream)); }
void Event::record_for_host(cudaStream_t stream) const {
  cudaStreamCaptureStatus status{};
  check_cuda(cudaStreamIsCapturing(stream, &status));
  const bool captured = status == cudaStreamCaptureStatusActive;
  check_cuda(
      cudaEventRecordWithFlags(handle_, stream, captured ? cudaEventRecordExternal : cudaEventRecordDefault));
}
bool Event::done() const {
  const cudaError_t status = cudaEventQuery(handle_);
  if (status != cudaErrorNotReady) check_cuda(status);
  return status == cudaSuccess;
}
void Event::synchronize() const { check_cuda(cudaEventSynchronize(handle_)); }
double Event::seconds_since(const Event& start) const {
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, start.handle_, handle_));
  return static_cast<double>(milliseconds) / 1000.0;
}

}  // namespace spsolve::cuda
