// SPDX-License-Identifier: Apache-2.0
#include "app/inspect/inspect.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <set>

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include "app/machine/directory_text.hpp"
#include "app/machine/host_memory.hpp"
#include "app/setup/ceilings.hpp"
#include "app/setup/terminal.hpp"
#include "app/setup/versions.hpp"
#include "halo/machine.hpp"
#include "kernels/cache_directory.hpp"

namespace spsolve {
namespace {

/// Returns whether the MPI library reports that it can send GPU memory.
const char* cuda_aware() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() ? "yes" : "no";
#else
  return "unknown";
#endif
}

}  // namespace

Status doctor(const Communicator& communicator) {
  const Terminal terminal(communicator, false);
  for (const auto& [name, version] : library_versions()) terminal.print("{:<14} {}", name, version);
  const auto hosts = communicator.gather(host_name());
  terminal.print("{:<14} {} on {} host(s), {} threads each, {} processors on {}", "ranks",
                 communicator.size(), std::set<std::string>(hosts.begin(), hosts.end()).size(),
                 omp_get_max_threads(), omp_get_num_procs(), host_name());
  const AvailableMemory memory = available_memory(true);
  terminal.print("{:<14} {} {}", "memory", size_text(memory.bytes), memory.whose);
  terminal.print("{:<14} {}", "CUDA-aware MPI", cuda_aware());
  ParallelConfig any;
  any.share_gpus = true;  // several ranks may share a GPU here
  const DeviceChoice device = choose_device(communicator, {}, any);
  const auto devices = communicator.gather(device.of_rank);
  for (std::size_t rank = 0; rank < devices.size(); ++rank)
    terminal.print("{:<14} {}", fmt::format("rank {}", rank), devices[rank]);
  if (!device.note.empty()) terminal.print("{:<14} none: {}", "GPUs", device.note);
  terminal.print("{:<14} {}", "ceilings", describe_ceilings(device));
  terminal.print("{:<14} {}", "cache",
                 cache_directory().empty() ? std::string("none: set XDG_CACHE_HOME or HOME")
                                           : directory_text(cache_directory()));
  terminal.print("{:<14} {}", "output", directory_text(std::filesystem::current_path()));
  terminal.print("{:<14} {}", "shared memory", directory_text("/dev/shm"));
  return Status::finished;
}

}  // namespace spsolve
