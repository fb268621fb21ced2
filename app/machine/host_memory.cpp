// SPDX-License-Identifier: Apache-2.0
#include "app/machine/host_memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "app/machine/control_groups.hpp"
#include "kernels/error.hpp"

namespace spsolve {
namespace {

namespace fs = std::filesystem;

/// Holds the names of the files of one version of control groups.
struct Names {
  const char *limit, *used, *of_files;
};
constexpr Names version_2{"memory.max", "memory.current", ""};
constexpr Names version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_"};

/// Lowers `least` to the address space that the limits of a shell (ulimit -v, ulimit -d) leave this process.
void limit_by_shell(AvailableMemory& least, bool free_now) {
  const auto page = static_cast<double>(sysconf(_SC_PAGE_SIZE));
  const double taken = free_now ? page * number_in("/proc/self/statm", "", 0) : 0;
  for (const auto& [limit, option] :
       {std::pair(RLIMIT_AS, "ulimit -v"), std::pair(RLIMIT_DATA, "ulimit -d")}) {
    rlimit found{};
    if (getrlimit(limit, &found) != 0 || found.rlim_cur == RLIM_INFINITY) continue;
    const double bytes = static_cast<double>(found.rlim_cur) - (limit == RLIMIT_AS ? taken : 0);
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
    const Names& names = version == 2 ? version_2 : version_1;
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

std::string size_text(double bytes) {
  return bytes < 0x1p30 ? fmt::format("{:.1f} MiB", bytes / 0x1p20)
                        : fmt::format("{:.1f} GiB", bytes / 0x1p30);
}

}  // namespace spsolve
