// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <memory>
#include <source_location>

#include "halo/communicator.hpp"
#include "halo/transport.hpp"

namespace spsolve {

/// Throws Error(device_failure) naming the call's place and NCCL's own text unless `result` is ncclSuccess.
void check_nccl(ncclResult_t result, const std::source_location& where = std::source_location::current());

/// Device memory moved by NCCL on a stream: one group of sends and receives per exchange; the host waits for
/// nothing, and exchanges can be captured in graphs. Each rank needs a GPU of its own.
class NcclTransport : public Transport {
 public:
  /// On the current device; collective. `stream` must outlive the transport.
  NcclTransport(const Communicator& communicator, cudaStream_t stream);

  bool takes_multiprocessors() const override { return true; }
  void start(std::span<const Message> sends, std::span<const Message> receives) override;
  /// Nothing: what is enqueued on the stream after start() comes after the messages.
  void finish() override {}
  void all_reduce_max(int* value) override;
  bool enqueues_only() const override { return true; }
  void check() const override;

 private:
  struct Destroy {
    void operator()(ncclComm_t handle) const;
  };

  std::unique_ptr<std::remove_pointer_t<ncclComm_t>, Destroy> handle_;
  cudaStream_t stream_;
};

}  // namespace spsolve
