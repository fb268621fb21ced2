// SPDX-License-Identifier: Apache-2.0
#include "halo/staged_transport.hpp"

namespace spsolve {

std::vector<Message> StagedMpiTransport::staged(std::span<const Message> messages,
                                                cuda::PinnedBuffer& buffer) {
  std::size_t bytes = 0;
  for (const Message& message : messages) bytes += message.bytes;
  if (buffer.bytes() < bytes) buffer = cuda::PinnedBuffer(bytes);  // releasing one waits for the device
  std::vector<Message> result(messages.begin(), messages.end());
  std::byte* next = static_cast<std::byte*>(buffer.data());
  for (Message& message : result) {
    message.data = next;
    next += message.bytes;
  }
  return result;
}

void StagedMpiTransport::start(std::span<const Message> sends, std::span<const Message> receives) {
  receives_.assign(receives.begin(), receives.end());
  staged_sends_ = staged(sends, send_buffer_);
  staged_receives_ = staged(receives, receive_buffer_);
  for (std::size_t i = 0; i < sends.size(); ++i)
    cuda::check_cuda(cudaMemcpyAsync(staged_sends_[i].data, sends[i].data, sends[i].bytes,
                                     cudaMemcpyDeviceToHost, stream_));
}

void StagedMpiTransport::finish() {
  if (staged_sends_.empty() && receives_.empty()) return;  // a rank alone never waits
  // With this, what arrived last has left its buffer too.
  cuda::check_cuda(cudaStreamSynchronize(stream_));
  mpi_.start(staged_sends_, staged_receives_);
  mpi_.finish();
  for (std::size_t i = 0; i < receives_.size(); ++i)
    cuda::check_cuda(cudaMemcpyAsync(receives_[i].data, staged_receives_[i].data, receives_[i].bytes,
                                     cudaMemcpyHostToDevice, stream_));
}

void DeviceMpiTransport::start(std::span<const Message> sends, std::span<const Message> receives) {
  sends_.assign(sends.begin(), sends.end());
  receives_.assign(receives.begin(), receives.end());
}

void DeviceMpiTransport::finish() {
  if (sends_.empty() && receives_.empty()) return;
  cuda::check_cuda(cudaStreamSynchronize(stream_));
  mpi_.start(sends_, receives_);
  mpi_.finish();
}

}  // namespace spsolve
