// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "halo/communicator.hpp"
#include "halo/transport.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/program.hpp"
#include "kernels/cuda/runtime/stream.hpp"

namespace spsolve {

/// Exchanges memory between GPUs of one machine. Every rank maps the receive buffers of its neighbours (CUDA
/// IPC) and writes to them by copy engines, which leaves the multiprocessors to the kernels. Reading instead
/// of writing takes 1.5 times as long.
///
/// Flags in device memory tell neighbours that they may write and that data have arrived. Streams write and
/// await the flags, so the host never waits. The numbers in the flags grow, so exchanges cannot be captured
/// in graphs.
class PeerTransport : public Transport {
 public:
  /// Makes a transport on the current device. Returns null if the ranks are not all on one machine or cannot
  /// map each other's memory. `stream` must outlive the transport. Collective.
  static std::unique_ptr<PeerTransport> make(const Communicator& communicator, cudaStream_t stream,
                                             const cuda::KernelCompiler& compiler);

  ~PeerTransport() override;

  bool supports_boxes() const override { return true; }
  std::shared_ptr<void> connect(std::span<const Message> sends, std::span<const Message> receives) override;
  void start(std::span<const Message> sends, std::span<const Message> receives) override;
  void finish() override;
  /// Runs a kernel (peer_max.cuh).
  void all_reduce_max(int* value) override;

 private:
  class Mapping;
  class Connection;
  /// Holds a stream for the copies to one peer. Peers have separate lanes, because each has a copy engine.
  struct Lane {
    cuda::Stream stream{cuda::Stream::Priority::high};
    cuda::Event sent;
  };
  /// Names the flags that rank `sender` writes into the memory of rank `receiver`. They count the exchanges
  /// that the receiver may write to the sender (free) and those that have arrived from the sender (arrived).
  enum class Flag { free, arrived };

  PeerTransport(const Communicator& communicator, cudaStream_t stream, const cuda::KernelCompiler& compiler);
  std::uint32_t* flag(Flag which, int sender, int receiver) const;

  Communicator communicator_;
  cudaStream_t stream_;
  // Holds two flags per sender, followed by the places of peer_max.cuh.
  cuda::DeviceBuffer flags_;
  std::vector<std::uint32_t*> flags_of_;  // flag memory of each rank, as mapped here
  std::optional<cuda::Kernel> peer_max_;
  cuda::DeviceBuffer places_of_;  // the places of each rank
  std::uint32_t reductions_ = 0;
  std::vector<std::unique_ptr<Mapping>> mappings_;
  std::map<const Message*, Connection*> connections_;  // key: the first message that is sent
  std::vector<std::unique_ptr<Lane>> lanes_;
  cuda::Event ready_;
  std::uint32_t exchanges_ = 0;
  Connection* under_way_ = nullptr;
};

}  // namespace spsolve
