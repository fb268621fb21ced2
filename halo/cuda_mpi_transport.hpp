// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "halo/mpi_transport.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"

namespace spsolve {

/// Sends device memory by MPI: directly if the library can read it (CUDA-aware), otherwise through pinned
/// host memory. finish() waits for the stream and then for the neighbours. Work enqueued earlier on other
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
  /// Makes the host wait for all work enqueued before.
  void all_reduce_max(int* value) override;
  /// Returns true for a single rank, which has nothing to send.
  bool enqueues_only() const override { return communicator_.size() == 1; }

 private:
  /// Returns the messages as MPI gets them: unchanged if MPI reads device memory, otherwise with their data
  /// in `buffer`, which grows as needed.
  std::vector<Message> staged(std::span<const Message> messages, cuda::PinnedBuffer& buffer) const;
  /// Enqueues copies of message data, unless MPI reads and writes device memory itself.
  void copy(const std::vector<Message>& from, const std::vector<Message>& to) const;

  Communicator communicator_;
  MpiTransport mpi_;
  cudaStream_t stream_;
  bool mpi_reads_device_memory_;
  cuda::PinnedBuffer send_buffer_, receive_buffer_, value_{sizeof(int)};
  std::vector<Message> receives_, staged_sends_, staged_receives_;
};

}  // namespace spsolve
