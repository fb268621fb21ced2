// SPDX-License-Identifier: Apache-2.0
#include "app/setup/device.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <map>

#include "halo/collectively.hpp"
#include "halo/machine.hpp"
#include "halo/mpi_transport.hpp"
#ifdef SPSOLVE_CUDA
#include "kernels/cuda/runtime/device.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "solver/cuda_backend.hpp"
#endif

namespace spsolve {
namespace {

#ifdef SPSOLVE_CUDA
/// Returns true if two ranks use one GPU. Throws if this is not `allowed`, because they would only slow each
/// other down.
bool gpus_are_shared(const Communicator& communicator, const std::string& gpu, bool allowed) {
  const auto gpus = communicator.gather(host_name() + ": " + gpu);
  bool shared = false;
  collectively(communicator, [&] {
    std::map<std::string, int> ranks_of;
    for (const std::string& name : gpus) {
      if (++ranks_of[name] == 1) continue;
      shared = true;
      if (!allowed)
        throw Error(Status::invalid_input, fmt::format("{} ranks would share GPUs ({} more than once): start "
                                                       "one rank per GPU, or set parallel.share_gpus = true",
                                                       gpus.size(), name));
    }
  });
  return communicator.all_reduce(static_cast<int>(shared), MPI_MAX) > 0;
}

/// Returns why the first rank without a GPU has none, while others have one. Collective.
std::string why_some_miss_gpus(const Communicator& communicator, int count, const std::string& missing) {
  const int first = communicator.all_reduce(count == 0 ? communicator.rank() : communicator.size(), MPI_MIN);
  return communicator.broadcast(fmt::format("rank {} on {}: {}", communicator.rank(), host_name(), missing),
                                first);
}
#endif

/// Returns the transport that is wanted, if the devices can use it.
std::string transport_for(const DeviceChoice& choice, const std::string& wanted) {
  const bool on_devices = wanted == "nccl" || wanted == "peer";
  if (on_devices && !choice.cuda)
    throw Error(InputKey{"parallel", "transport"},
                fmt::format(" = \"{}\" moves GPU memory, but this run is on the CPU; use "
                            "auto or mpi",
                            wanted));
  // NCCL, and ranks that wait for each other on the device, need a GPU for each rank.
  if (on_devices && choice.shared)
    throw Error(InputKey{"parallel", "transport"},
                fmt::format(" = \"{}\" needs a GPU for each rank, but ranks share them; "
                            "use auto or mpi",
                            wanted));
  return choice.shared ? "mpi" : wanted;
}

}  // namespace

DeviceChoice choose_device([[maybe_unused]] const Communicator& communicator, const ComputeConfig& compute,
                           const ParallelConfig& parallel) {
  DeviceChoice choice;
  std::string missing = "this build of spsolve has no CUDA";
#ifdef SPSOLVE_CUDA
  const int count = compute.device == "cpu" ? 0 : cuda::device_count(&missing);
  choice.cuda = communicator.all_reduce(count, MPI_MIN) > 0;
  if (choice.cuda) {
    choice.device = rank_on_this_machine(communicator) % count;
    const cuda::DeviceInfo info = cuda::device_info(choice.device);
    choice.model = info.name;
    choice.of_rank =
        fmt::format("{}: GPU {} {} ({})", host_name(), choice.device, info.name, info.pci_bus_id);
    choice.shared = gpus_are_shared(communicator, info.pci_bus_id, parallel.share_gpus);
    choice.transport = transport_for(choice, parallel.transport);
    return choice;
  }
  if (communicator.all_reduce(count, MPI_MAX) > 0) missing = why_some_miss_gpus(communicator, count, missing);
#endif
  if (compute.device == "cuda")
    throw Error(InputKey{"compute", "device"}, fmt::format(" = \"cuda\": {}; use auto or cpu", missing));
  if (compute.device == "auto") choice.note = missing;
  choice.model = fmt::format("{} threads", omp_get_max_threads());
  choice.of_rank = host_name() + ": " + choice.model;
  choice.transport = transport_for(choice, parallel.transport);
  return choice;
}

void require_device_memory([[maybe_unused]] const DeviceChoice& choice, [[maybe_unused]] std::size_t bytes,
                           [[maybe_unused]] bool use_device) {
#ifdef SPSOLVE_CUDA
  if (!choice.cuda) return;
  const std::string fields = "the fields of one rank";
  const std::size_t all = cuda::device_info(choice.device).memory_bytes;
  if (bytes > all) throw cuda::memory_error(choice.device, bytes, fields, fmt::format("{} in all", all));
  if (!use_device) return;
  cuda::select_device(choice.device);
  cuda::require_device_memory(bytes, fields);
#endif
}

Machine make_machine(const Communicator& communicator, [[maybe_unused]] const DeviceChoice& choice,
                     [[maybe_unused]] const ParallelConfig& parallel, bool background) {
#ifdef SPSOLVE_CUDA
  if (choice.cuda) {
    cuda::select_device(choice.device);
    auto backend = std::make_unique<CudaBackend>(communicator, choice.transport, parallel.graphs);
    const std::string name = backend->transport_name();
    return {nullptr, std::move(backend), name};
  }
#endif
  auto mpi = std::make_unique<MpiTransport>(communicator);
  auto backend = std::make_unique<CpuBackend>(*mpi, background);
  return {std::move(mpi), std::move(backend), "mpi"};
}

}  // namespace spsolve
