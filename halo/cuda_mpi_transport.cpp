// SPDX-License-Identifier: Apache-2.0
#include "halo/cuda_mpi_transport.hpp"

namespace spsolve {

void CudaMpiTransport::start(std::span<const Message> sends, std::span<const Message> receives) {
  receives_.assign(receives.begin(), receives.end());
  staged_sends_ = staged(sends, send_buffer_);
  staged_receives_ = staged(receives, receive_buffer_);
  copy({sends.begin(), sends.end()}, staged_sends_);
}

void CudaMpiTransport::finish() {
  if (staged_sends_.empty() && receives_.empty()) return;  // without neighbours there is nothing to wait for
  // After this wait the data to send are there, and the last data received have been copied out of their
  // buffer.
  cuda::check_cuda(cudaStreamSynchronize(stream_));
  mpi_.start(staged_sends_, staged_receives_);
  mpi_.finish();
  copy(staged_receives_, receives_);
}

void CudaMpiTransport::all_reduce_max(int* value) {
  auto* const at_hand = static_cast<int*>(value_.data());
  cuda::check_cuda(cudaMemcpyAsync(at_hand, value, sizeof *value, cudaMemcpyDefault, stream_));
  cuda::check_cuda(cudaStreamSynchronize(stream_));
  mpi_.all_reduce_max(at_hand);
  cuda::check_cuda(cudaMemcpyAsync(value, at_hand, sizeof *value, cudaMemcpyDefault, stream_));
}

std::vector<Message> CudaMpiTransport::staged(std::span<const Message> messages,
                                              cuda::PinnedBuffer& buffer) const {
  std::vector<Message> result(messages.begin(), messages.end());
  if (mpi_reads_device_memory_) return result;
  std::size_t bytes = 0;
  for (const Message& message : messages) bytes += message.bytes;
  if (buffer.bytes() < bytes) buffer = cuda::PinnedBuffer(bytes);  // releasing a buffer waits for the device
  std::byte* next = static_cast<std::byte*>(buffer.data());
  for (Message& message : result) {
    message.data = next;
    next += message.bytes;
  }
  return result;
}

void CudaMpiTransport::copy(const std::vector<Message>& from, const std::vector<Message>& to) const {
  if (mpi_reads_device_memory_) return;
  for (std::size_t i = 0; i < from.size(); ++i)
    cuda::check_cuda(cudaMemcpyAsync(to[i].data, from[i].data, from[i].bytes, cudaMemcpyDefault, stream_));
}

}  // namespace spsolve
