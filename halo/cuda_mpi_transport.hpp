// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "halo/mpi_transport.hpp"
#include "kernels/cuda/runtime/device.hpp"

namespace spsolve {

/// Device memory sent by MPI: as it is by a library that can read it (CUDA-aware), else by way of pinned host
/// memory. finish() waits for the stream, then for the neighbours: what is enqueued before it on other
/// streams runs meanwhile.
class CudaMpiTransport : public Transport {
 public:
  CudaMpiTransport(const Communicator& communicator, cudaStream_t stream, bool mpi_reads_device_memory)
      : communicator_(communicator),
        mpi_(communicator),
        stream_(stream),
        mpi_reads_device_memory_(mpi_reads_device_memory) {}

  void start(std::span<const Message> sends, std::span<const Message> receives) override;
  void finish() override;
  /// The host waits for what was enqueued before.
  void all_reduce_max(int* value) override;
  /// A rank alone has nothing to send.
  bool enqueues_only() const override { return communicator_.size() == 1; }

 private:
  /// The messages as MPI gets them: with their data in `buffer`, which grows as needed, or as they are.
  std::vector<Message> staged(std::span<const Message> messages, cuda::PinnedBuffer& buffer) const;
  /// Enqueues copies of the data of messages, unless MPI reads and writes it itself.
  void copy(const std::vector<Message>& from, const std::vector<Message>& to) const;

  Communicator communicator_;
  MpiTransport mpi_;
  cudaStream_t stream_;
  bool mpi_reads_device_memory_;
  cuda::PinnedBuffer send_buffer_, receive_buffer_, value_{sizeof(int)};
  std::vector<Message> receives_, staged_sends_, staged_receives_;
};

}  // namespace spsolve
