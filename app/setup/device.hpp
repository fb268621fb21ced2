// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "halo/communicator.hpp"
#include "halo/decomposition.hpp"
#include "io/input/config.hpp"
#include "solver/backend.hpp"

namespace spsolve {

/// Describes the devices that the ranks run on, of the same kind on all of them.
struct DeviceChoice {
  bool cuda = false;
  int device = 0;                  // the number of this rank's device
  bool shared = false;             // some ranks have the same GPU
  std::string transport = "auto";  // auto, peer, nccl or mpi: one that these devices can use
  std::string of_rank;             // "host: GPU 0 NVIDIA H200 (0000:00:06.0)" or "host: 8 threads"
  std::string model;               // "NVIDIA H200" or "8 threads"
  std::string note;                // why auto did not choose GPUs; empty if it did
};

/// Chooses one GPU per rank by the rank's number on its machine, even if each rank sees only its own GPU.
/// Chooses the CPU if there are no GPUs and `compute.device` is auto. Throws Error(invalid_input) if GPUs are
/// wanted and missing, if ranks would share one unless `parallel.share_gpus`, or if the devices cannot use
/// `parallel.transport`. Collective.
DeviceChoice choose_device(const Communicator& communicator, const ComputeConfig& compute,
                           const ParallelConfig& parallel);

/// Throws Error(device_failure) if the GPU of this rank has less than `bytes` bytes of memory in all or, if
/// `use_device` allows to ask the GPU, has fewer free now.
void require_device_memory(const DeviceChoice& choice, std::size_t bytes, bool use_device);

/// Holds a backend and its transport.
struct Machine {
  std::unique_ptr<Transport> transport;  // used by the CPU backend; GPUs bring their own
  std::unique_ptr<Backend> backend;
  std::string transport_name;
};

/// Makes the backend; with `background`, states are copied so that they can be written during the run.
/// Collective.
Machine make_machine(const Communicator& communicator, const DeviceChoice& choice,
                     const ParallelConfig& parallel, bool background = false);

}  // namespace spsolve
