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
#include "kernels/cuda/runtime/device.hpp"
#include "kernels/cuda/runtime/program.hpp"

namespace spsolve {

/// Memory of GPUs of one machine: every rank maps where its neighbours receive (CUDA IPC) and writes there by
/// copy engines, which leave the multiprocessors to the kernels; fetching takes half as long again. Flags in
/// device memory tell neighbours that they may write, and that data have arrived; streams write and await
/// them, the host waits for nothing. As the numbers in the flags grow, exchanges cannot be captured in
/// graphs.
class PeerTransport : public Transport {
 public:
  /// On the current device, or null where the ranks are not all on one machine or cannot map each other's
  /// memory; collective. `stream` must outlive the transport.
  static std::unique_ptr<PeerTransport> make(const Communicator& communicator, cudaStream_t stream,
                                             const cuda::KernelCompiler& compiler);

  ~PeerTransport() override;

  bool takes_boxes() const override { return true; }
  std::shared_ptr<void> connect(std::span<const Message> sends, std::span<const Message> receives) override;
  void start(std::span<const Message> sends, std::span<const Message> receives) override;
  void finish() override;
  /// By a kernel (peer_max.cuh).
  void all_reduce_max(int* value) override;

 private:
  class Mapping;
  class Connection;
  /// Where what goes to one peer is copied, beside what goes to others: each has a copy engine.
  struct Lane {
    cuda::Stream stream{cuda::Stream::Priority::high};
    cuda::Event sent;
  };
  /// What rank `sender` wrote to the flags of rank `receiver` counts the exchanges that the latter may write
  /// to the former, and those that have arrived from the former.
  enum class Flag { free, arrived };

  PeerTransport(const Communicator& communicator, cudaStream_t stream, const cuda::KernelCompiler& compiler);
  std::uint32_t* flag(Flag which, int sender, int receiver) const;

  Communicator communicator_;
  cudaStream_t stream_;
  // Two flags of each sender, then what peer_max.cuh calls places.
  cuda::DeviceBuffer flags_;
  std::vector<std::uint32_t*> flags_of_;  // of each rank, as this one sees them
  std::optional<cuda::Kernel> peer_max_;
  cuda::DeviceBuffer places_of_;  // of each rank
  std::uint32_t reductions_ = 0;
  std::vector<std::unique_ptr<Mapping>> mappings_;
  std::map<const Message*, Connection*> connections_;  // by the first message that is sent
  std::vector<std::unique_ptr<Lane>> lanes_;
  cuda::Event ready_;
  std::uint32_t exchanges_ = 0;
  Connection* under_way_ = nullptr;
};

}  // namespace spsolve
