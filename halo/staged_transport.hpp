// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "halo/mpi_transport.hpp"
#include "kernels/cuda/device.hpp"

namespace spsolve {

/// Device memory sent by an MPI library that cannot read it: by way of pinned host memory. finish() waits for
/// the stream, then for the neighbours: what is enqueued before it on other streams runs meanwhile.
class StagedMpiTransport : public Transport {
 public:
  StagedMpiTransport(const Communicator& communicator, cudaStream_t stream)
      : communicator_(communicator), mpi_(communicator), stream_(stream) {}

  void start(std::span<const Message> sends, std::span<const Message> receives) override;
  void finish() override;
  bool enqueues_only() const override { return communicator_.size() == 1; }

 private:
  /// The messages with their data in `buffer`, which grows as needed.
  static std::vector<Message> staged(std::span<const Message> messages, cuda::PinnedBuffer& buffer);

  Communicator communicator_;
  MpiTransport mpi_;
  cudaStream_t stream_;
  cuda::PinnedBuffer send_buffer_, receive_buffer_;
  std::vector<Message> receives_, staged_sends_, staged_receives_;
};

/// Device memory sent by an MPI library that can read it (CUDA-aware): finish() waits for the stream, then
/// MPI moves the memory itself.
class DeviceMpiTransport : public Transport {
 public:
  DeviceMpiTransport(const Communicator& communicator, cudaStream_t stream)
      : communicator_(communicator), mpi_(communicator), stream_(stream) {}

  void start(std::span<const Message> sends, std::span<const Message> receives) override;
  void finish() override;
  bool enqueues_only() const override { return communicator_.size() == 1; }

 private:
  Communicator communicator_;
  MpiTransport mpi_;
  cudaStream_t stream_;
  std::vector<Message> sends_, receives_;
};

}  // namespace spsolve
