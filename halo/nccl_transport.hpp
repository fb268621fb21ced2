// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <memory>
#include <source_location>
#include <type_traits>

#include "halo/communicator.hpp"
#include "halo/transport.hpp"

namespace spsolve {

/// Throws Error(device_failure) with the place of the call and NCCL's text unless `result` is ncclSuccess.
void check_nccl(ncclResult_t result, const std::source_location& where = std::source_location::current());

/// Sends device memory by NCCL on a stream: one group of sends and receives per exchange. The host never
/// waits, so exchanges can be captured in graphs. Each rank needs its own GPU.
class NcclTransport : public Transport {
 public:
  /// Connects all ranks on the current device of each. `stream` must outlive the transport. Collective.
  NcclTransport(const Communicator& communicator, cudaStream_t stream);

  bool uses_multiprocessors() const override { return true; }
  void start(std::span<const Message> sends, std::span<const Message> receives) override;
  /// Does nothing: work enqueued on the stream after start() runs after the messages.
  void finish() override {}
  void all_reduce_max(int* value) override;
  bool enqueues_only() const override { return true; }
  void check() const override;

 private:
  struct DestroyCommunicator {
    void operator()(ncclComm_t handle) const;
  };

  std::unique_ptr<std::remove_pointer_t<ncclComm_t>, DestroyCommunicator> handle_;
  cudaStream_t stream_;
};

}  // namespace spsolve
