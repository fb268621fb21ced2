// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "halo/mpi_transport.hpp"
#include "kernels/cuda/device.hpp"

namespace spsolve {

/// Device memory sent by an MPI library that cannot read it: by way of pinned host memory. The host waits for
/// the stream in start(), and for the neighbours in finish().
class StagedMpiTransport : public Transport {
 public:
  StagedMpiTransport(const Communicator& communicator, cudaStream_t stream)
      : mpi_(communicator), stream_(stream) {}

  void start(std::span<const Message> sends, std::span<const Message> receives) override;
  void finish() override;

 private:
  /// The messages with their data in `buffer`, which grows as needed.
  static std::vector<Message> staged(std::span<const Message> messages, cuda::PinnedBuffer& buffer);

  MpiTransport mpi_;
  cudaStream_t stream_;
  cuda::PinnedBuffer send_buffer_, receive_buffer_;
  std::vector<Message> receives_, staged_receives_;
};

/// Device memory sent by an MPI library that can read it (CUDA-aware): the host waits for the stream, then
/// MPI moves the memory itself.
class DeviceMpiTransport : public Transport {
 public:
  DeviceMpiTransport(const Communicator& communicator, cudaStream_t stream)
      : mpi_(communicator), stream_(stream) {}

  void start(std::span<const Message> sends, std::span<const Message> receives) override {
    if (!sends.empty() || !receives.empty()) cuda::check_cuda(cudaStreamSynchronize(stream_));
    mpi_.start(sends, receives);
  }
  void finish() override { mpi_.finish(); }

 private:
  MpiTransport mpi_;
  cudaStream_t stream_;
};

}  // namespace spsolve
