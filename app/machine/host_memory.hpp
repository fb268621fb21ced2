// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace spsolve {

/// Holds a number of bytes and its reason: "free on this machine", or the name of the limit.
struct AvailableMemory {
  double bytes;
  std::string whose;
};

/// Returns the memory that this process may use: the least of the machine's memory and the limits of its
/// control groups, all up to the root (containers, batch jobs; cgroups v2 and v1). If `free_now`, used memory
/// is subtracted, except the page cache. `root` is the root of the file system that holds proc and sys.
AvailableMemory available_memory(bool free_now, const std::filesystem::path& root = "/");

/// Throws Error(invalid_input) unless `ranks` ranks can each have `bytes` bytes. `for_what` and `advice` go
/// into the message.
void require_host_memory(double bytes, int ranks, bool free_now, const std::string& for_what = "",
                         const std::string& advice = "");

/// Prepares for limits of the shell on address space (ulimit -v, ulimit -d). Call it before there are
/// threads: it makes them share one heap, because each heap of glibc takes 64 MiB. Throws
/// Error(invalid_input) if the limits leave less memory than MPI, HDF5 and their threads take, because these
/// libraries end a process in which they find too little.
void heed_limits_of_shell();

/// Makes the signal XCPU arrive before Linux kills this process if the shell has set one limit of processor
/// time for both (ulimit -t). XCPU then arrives earlier by a tenth of the limit, at least 1 s and at most a
/// minute of each thread. This time is for the last checkpoint.
void leave_processor_time_for_checkpoint();

/// Returns "1.5 MiB", "2.0 GiB".
std::string size_text(double bytes);

}  // namespace spsolve
