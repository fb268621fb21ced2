// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace spsolve {

/// Bytes, and whose they are: "free on this machine", or the limit that leaves no more.
struct AvailableMemory {
  double bytes;
  std::string whose;
};

/// Returns what this process may take: the least of what the machine has and what the limits of its control
/// groups, all up to the root, let it have (containers, batch jobs; cgroups v2 and v1). If `free_now`, less
/// what is taken of it, but for pages of files, which make way. `root`: of the file system that says so.
AvailableMemory available_memory(bool free_now, const std::filesystem::path& root = "/");

/// Throws Error(invalid_input) unless there is that for `ranks` ranks that take so many bytes each.
/// `for_what` and `advice` go into the message.
void require_host_memory(double bytes, int ranks, bool free_now, const std::string& for_what = "",
                         const std::string& advice = "");

/// "1.5 MiB", "2.0 GiB".
std::string size_text(double bytes);

}  // namespace spsolve
