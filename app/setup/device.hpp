// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "halo/communicator.hpp"
#include "halo/decomposition.hpp"
#include "io/input/config.hpp"
#include "solver/backend.hpp"

namespace spsolve {

/// What the ranks run on, the same kind on all of them.
struct DeviceChoice {
  bool cuda = false;
  int device = 0;                  // of this rank
  bool shared = false;             // some ranks have the same GPU
  std::string transport = "auto";  // auto, peer, nccl or mpi: one that these devices can take
  std::string of_rank;             // "host: GPU 0 NVIDIA H200 (0000:00:06.0)" or "host: 8 threads"
  std::string model;               // "NVIDIA H200" or "8 threads"
  std::string note;                // why auto did not take GPUs; empty where it did
};

/// One GPU per rank, chosen by the rank's place on its machine, also where each rank sees only its own; the
/// CPU where there are no GPUs and `compute.device` is auto. Throws Error(invalid_input) where GPUs are
/// wanted and missing, where ranks would share one unless `parallel.share_gpus`, and where the devices cannot
/// take `parallel.transport`. Collective.
DeviceChoice choose_device(const Communicator& communicator, const ComputeConfig& compute,
                           const ParallelConfig& parallel);

/// Throws Error(device_failure) where the GPU of this rank has less memory: in all, as its properties say,
/// and if it may be used, free now.
void require_device_memory(const DeviceChoice& choice, std::size_t bytes, bool use_device);

/// A backend and the transport it was made with.
struct Machine {
  std::unique_ptr<Transport> transport;  // of the CPU backend; GPUs bring their own
  std::unique_ptr<Backend> backend;
  std::string transport_name;
};

/// `background`: states are copied to write them while the run goes on. Collective.
Machine make_machine(const Communicator& communicator, const DeviceChoice& choice,
                     const ParallelConfig& parallel, bool background = false);

}  // namespace spsolve
