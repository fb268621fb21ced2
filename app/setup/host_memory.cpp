// SPDX-License-Identifier: Apache-2.0
#include "app/setup/host_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "kernels/error.hpp"

namespace spsolve {
namespace {

namespace fs = std::filesystem;

/// The number that follows `key` in a file, or with which it begins; `otherwise` where there is none ("max").
double number_in(const fs::path& file, const std::string& key, double otherwise) {
  std::ifstream text(file);
  for (std::string word; !key.empty() && word != key && text;) text >> word;
  double number = 0;
  return text >> number ? number : otherwise;
}

/// Names of the files of a version of control groups, below the mount point of those that limit memory.
struct Names {
  const char *mount, *limit, *used, *of_files;
};
constexpr Names version_2{"sys/fs/cgroup", "memory.max", "memory.current", ""};
constexpr Names version_1{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"};

}  // namespace

AvailableMemory available_memory(bool free_now, const fs::path& root) {
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  AvailableMemory least{
      1024 * number_in(root / "proc/meminfo", free_now ? "MemAvailable:" : "MemTotal:", unlimited),
      free_now ? "free on this machine" : "of this machine"};
  std::ifstream groups(root / "proc/self/cgroup");
  // Lines "number:controllers:path"; version 2 names none. A container may see its group as the root.
  for (std::string number, controllers, path; std::getline(groups, number, ':') &&
                                              std::getline(groups, controllers, ':') &&
                                              std::getline(groups, path);) {
    if (!controllers.empty() && ("," + controllers + ",").find(",memory,") == std::string::npos) continue;
    const Names& names = controllers.empty() ? version_2 : version_1;
    for (fs::path group = fs::path(path).lexically_normal().relative_path();; group = group.parent_path()) {
      const fs::path directory = root / names.mount / group, limit = directory / names.limit;
      double bytes = number_in(limit, "", unlimited);
      if (free_now) {
        bytes -= number_in(directory / names.used, "", 0);
        for (const char* pages : {"active_file", "inactive_file"})
          bytes += number_in(directory / "memory.stat", std::string(names.of_files) + pages, 0);
      }
      if (bytes < least.bytes) least = {std::max(bytes, 0.0), "left by " + limit.string()};
      if (group.empty()) break;
    }
  }
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
