// SPDX-License-Identifier: Apache-2.0
#include "app/device.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <map>

#include "halo/mpi_transport.hpp"
#ifdef SPSOLVE_CUDA
#include "kernels/cuda/device.hpp"
#include "solver/cuda_backend.hpp"
#endif

namespace spsolve {
namespace {

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

#ifdef SPSOLVE_CUDA
/// Throws where two ranks have one GPU (NCCL needs one each, and they would only slow each other down).
void refuse_shared_gpus(const Communicator& communicator, const std::string& gpu) {
  const auto gpus = communicator.gather(host_name() + ": " + gpu);
  collectively(communicator, [&] {
    std::map<std::string, int> ranks_of;
    for (const std::string& name : gpus)
      if (++ranks_of[name] == 2)
        throw Error(Status::invalid_input, fmt::format("{} ranks would share GPUs ({} more than once): start "
                                                       "one rank per GPU, or set parallel.share_gpus = true",
                                                       gpus.size(), name));
  });
}
#endif

}  // namespace

Index3 face_cost(const DeviceChoice& choice) { return choice.cuda ? gpu_face_cost : Index3{1, 1, 1}; }

bool cuda_available() {
#ifdef SPSOLVE_CUDA
  return cuda::device_count() > 0;
#else
  return false;
#endif
}

DeviceChoice choose_device([[maybe_unused]] const Communicator& communicator, const ComputeConfig& compute,
                           [[maybe_unused]] const ParallelConfig& parallel) {
  DeviceChoice choice;
  std::string missing = "this build of spsolve has no CUDA";
#ifdef SPSOLVE_CUDA
  const int count = compute.device == "cpu" ? 0 : cuda::device_count(&missing);
  choice.cuda = communicator.all_reduce(count, MPI_MIN) > 0;
  if (choice.cuda) {
    choice.device = count == 1 ? 0 : rank_on_this_machine(communicator) % count;
    const cuda::DeviceInfo info = cuda::device_info(choice.device);
    choice.model = info.name;
    choice.of_rank =
        fmt::format("{}: GPU {} {} ({})", host_name(), choice.device, info.name, info.pci_bus_id);
    if (!parallel.share_gpus) refuse_shared_gpus(communicator, info.pci_bus_id);
    return choice;
  }
#endif
  // A rank that misses its GPU says why; all ranks hear of it.
  if (compute.device == "cuda")
    throw Error(Status::invalid_input,
                fmt::format("[compute] device = \"cuda\": {}; use auto or cpu", missing));
  if (compute.device == "auto") choice.note = missing;
  choice.model = fmt::format("{} threads", omp_get_max_threads());
  choice.of_rank = host_name() + ": " + choice.model;
  return choice;
}

Machine make_machine(const Communicator& communicator, [[maybe_unused]] const DeviceChoice& choice,
                     const ParallelConfig& parallel, bool background) {
#ifdef SPSOLVE_CUDA
  if (choice.cuda) {
    cuda::select_device(choice.device);
    auto backend = std::make_unique<CudaBackend>(communicator, parallel.transport, parallel.graphs);
    const std::string name = backend->transport_name();
    return {nullptr, std::move(backend), name};
  }
#endif
  if (parallel.transport == "nccl")
    throw Error(
        Status::invalid_input,
        "[parallel] transport = \"nccl\" moves GPU memory, but this run is on the CPU; use auto or mpi");
  auto mpi = std::make_unique<MpiTransport>(communicator);
  auto backend = std::make_unique<CpuBackend>(*mpi, background);
  return {std::move(mpi), std::move(backend), "mpi"};
}

}  // namespace spsolve
