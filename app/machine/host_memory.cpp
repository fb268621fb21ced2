// SPDX-License-Identifier: Apache-2.0
#include "app/machine/host_memory.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <omp.h>
#include <sys/resource.h>

#include <algorithm>
#include <limits>

#include "app/machine/control_groups.hpp"
#include "kernels/error.hpp"

namespace spsolve {
namespace {

namespace fs = std::filesystem;

/// Holds the names of the files of one version of control groups.
struct FileNames {
  const char *limit, *used, *of_files;
};
constexpr FileNames version_2{"memory.max", "memory.current", ""};
constexpr FileNames version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_"};

/// Is nearly twice the address space that Open MPI 4.1, HDF5 1.10 and their threads took on one rank and two,
/// because other builds of MPI load more libraries.
constexpr double room_for_libraries = 128 * 0x1p20;

/// Lowers `least` to the address space that the limits of a shell (ulimit -v, ulimit -d) leave this process.
void limit_by_shell(AvailableMemory& least, bool free_now) {
  struct Limit {
    __rlimit_resource resource;
    const char *option, *taken;  // the name of what counts in /proc/self/status, in KiB
  };
  for (const auto& [resource, option, taken] :
       {Limit{RLIMIT_AS, "ulimit -v", "VmSize:"}, Limit{RLIMIT_DATA, "ulimit -d", "VmData:"}}) {
    rlimit found{};
    if (getrlimit(resource, &found) != 0 || found.rlim_cur == RLIM_INFINITY) continue;
    const double bytes = static_cast<double>(found.rlim_cur) -
                         (free_now ? 1024 * number_in("/proc/self/status", taken, 0) : 0);
    if (bytes < least.bytes) least = {std::max(bytes, 0.0), fmt::format("left by {}", option)};
  }
}

}  // namespace

AvailableMemory available_memory(bool free_now, const fs::path& root) {
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  AvailableMemory least{
      1024 * number_in(root / "proc/meminfo", free_now ? "MemAvailable:" : "MemTotal:", unlimited),
      free_now ? "free on this machine" : "of this machine"};
  for_each_control_group("memory", root, [&](const fs::path& directory, int version) {
    const FileNames& names = version == 2 ? version_2 : version_1;
    const fs::path limit = directory / names.limit;
    double bytes = number_in(limit, "", unlimited);
    if (free_now) {
      bytes -= number_in(directory / names.used, "", 0);
      for (const char* pages : {"active_file", "inactive_file"})
        bytes += number_in(directory / "memory.stat", std::string(names.of_files) + pages, 0);
    }
    if (bytes < least.bytes) least = {std::max(bytes, 0.0), "left by " + limit.string()};
  });
  if (root == "/") limit_by_shell(least, free_now);
  return least;
}

void require_host_memory(double bytes, int ranks, bool free_now, const std::string& for_what,
                         const std::string& advice) {
  const AvailableMemory available = available_memory(free_now);
  if (bytes * ranks > available.bytes)
    throw Error(
        Status::invalid_input,
        fmt::format("the run needs {} per rank{} and {} ranks share {} {}: use a smaller grid, a lower "
                    "precision, or more machines{}",
                    size_text(bytes), for_what, ranks, size_text(available.bytes), available.whose, advice));
}

void leave_processor_time_for_checkpoint() {
  rlimit found{};
  if (getrlimit(RLIMIT_CPU, &found) != 0) return;
  if (found.rlim_cur != found.rlim_max || found.rlim_max == RLIM_INFINITY || found.rlim_max < 2) return;
  found.rlim_cur -=
      std::clamp<rlim_t>(found.rlim_max / 10, 1, 60 * static_cast<rlim_t>(omp_get_max_threads()));
  setrlimit(RLIMIT_CPU, &found);
}

void heed_limits_of_shell() {
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  AvailableMemory left{unlimited, ""};
  limit_by_shell(left, true);
  if (left.bytes == unlimited) return;
  mallopt(M_ARENA_MAX, 1);
  if (left.bytes < room_for_libraries)
    throw Error(Status::invalid_input,
                fmt::format("MPI, HDF5 and their threads need {} of address space beside the fields, and {} "
                            "are {}",
                            size_text(room_for_libraries), size_text(left.bytes), left.whose));
}

std::string size_text(double bytes) {
  return bytes < 0x1p30 ? fmt::format("{:.1f} MiB", bytes / 0x1p20)
                        : fmt::format("{:.1f} GiB", bytes / 0x1p30);
}

}  // namespace spsolve
