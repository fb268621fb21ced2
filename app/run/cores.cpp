// SPDX-License-Identifier: Apache-2.0
#include "app/run/cores.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "app/machine/control_groups.hpp"
#include "app/setup/terminal.hpp"
#include "halo/machine.hpp"

namespace spsolve {
namespace {

int cores_in_both(const CoreMask& a, const CoreMask& b) {
  int cores = 0;
  for (std::size_t i = 0; i < a.size(); ++i) cores += std::popcount(a[i] & b[i]);
  return cores;
}

CoreMask cores_of_this_rank() {
  CoreMask mask{};
  // If OMP_PROC_BIND is set, this thread is bound to the first of its places.
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> cores(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, cores.data());
    for (const int core : cores)
      mask.at(static_cast<std::size_t>(core) / 64) |= std::uint64_t{1} << core % 64;
  }
  if (omp_get_num_places() == 0) sched_getaffinity(0, sizeof mask, reinterpret_cast<cpu_set_t*>(mask.data()));
  return mask;
}

/// Returns this rank's share of the quota that limits it, in processors. Ranks of one machine may be in
/// groups of their own (containers), or share one. Collective.
double quota_of_this_rank(const Communicator& machine) {
  const ProcessorQuota quota = processor_quota();
  // Containers may give different groups the same path.
  struct stat found {};
  if (!quota.group.empty()) stat(quota.group.c_str(), &found);
  const std::array<std::uint64_t, 2> own{found.st_dev, found.st_ino};
  return quota.processors / static_cast<double>(std::ranges::count(machine.all_gather(own), own));
}

/// Returns true if OMP_NUM_THREADS holds numbers of threads. The OpenMP library ignores any other text.
bool threads_are_given() {
  const char* const text = std::getenv("OMP_NUM_THREADS");
  if (!text) return false;
  std::istringstream list(std::string(text) + ',');  // with an empty entry behind the comma of "3,"
  for (std::string entry; std::getline(list, entry, ',');) {
    std::istringstream words(entry);
    std::string rest;
    long threads = 0;
    if (!(words >> threads) || threads <= 0 || words >> rest) return false;
  }
  return true;
}

/// Holds how many threads of a rank can run at a time beside those of the others, and its share of a quota,
/// in processors.
struct Runnable {
  int threads;
  double quota;
};

/// Returns what can run of this rank. Threads beyond a quota may not run, and the others would wait for them
/// in barriers. Collective.
Runnable runnable_here(const Communicator& machine) {
  const std::vector<CoreMask> masks = machine.all_gather(cores_of_this_rank());
  const double quota = quota_of_this_rank(machine);
  return {std::clamp(static_cast<int>(std::min(quota, 1e6)), 1, threads_of_rank(masks, machine.rank())),
          quota};
}

/// Returns the cores of this job on this machine.
JobCores cores_of_job() {
  if (std::getenv("OMPI_COMM_WORLD_SIZE")) {  // mpirun itself is not bound
    CoreMask mask{};
    sched_getaffinity(getppid(), sizeof mask, reinterpret_cast<cpu_set_t*>(mask.data()));
    return {cores_in_both(mask, mask), "mpirun", "mpirun --bind-to none"};
  }
  const char* const of_step = std::getenv("SLURM_CPUS_ON_NODE");
  if (!of_step || !std::getenv("SLURM_PROCID")) return {};
  const auto online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  return {std::min(std::atoi(of_step), online), "srun", "srun --cpus-per-task"};
}

/// Returns how many of the wanted threads, this one included, can run at a time beside those that a run
/// starts later. The OpenMP library ends a process in which it cannot start a thread.
int threads_that_start(int wanted) {
  constexpr int later = 5;  // for heartbeats and files; a part of their stacks is room for HDF5
  std::latch all_started(1);
  std::vector<std::jthread> others;
  try {
    others.reserve(static_cast<std::size_t>(wanted - 1 + later));
    while (std::ssize(others) < wanted - 1 + later) others.emplace_back([&] { all_started.wait(); });
  } catch (const std::exception&) {  // std::system_error, or std::bad_alloc
  }
  all_started.count_down();
  const int count = std::max(1, static_cast<int>(std::ssize(others)) + 1 - later);
  if (count < wanted)
    std::fprintf(stderr,
                 "spsolve: warning: %d of %d threads can be started: a limit on memory (ulimit -v) or on "
                 "processes (ulimit -u, or that of the job) is too low for more\n",
                 count, wanted);
  return count;
}

}  // namespace

int threads_of_rank(std::span<const CoreMask> masks, int rank) {
  const CoreMask& own = masks[static_cast<std::size_t>(rank)];
  const auto sharing =
      std::ranges::count_if(masks, [&](const CoreMask& mask) { return cores_in_both(own, mask) > 0; });
  return std::max(1, cores_in_both(own, own) / std::max(1, static_cast<int>(sharing)));
}

void share_cores(const Communicator& communicator) {
  on_this_machine(communicator, [](const Communicator& machine) {
    const int fitting = runnable_here(machine).threads;
    // Launchers may set OMP_NUM_THREADS for some of the ranks only.
    const int wanted = threads_are_given() ? omp_get_max_threads() : fitting;
    omp_set_num_threads(std::min(wanted, omp_get_thread_limit()));  // OMP_THREAD_LIMIT
  });
}

void start_threads() {
  omp_set_num_threads(threads_that_start(omp_get_max_threads()));
  // The OpenMP library starts its threads here and keeps them.
  int started = 0;
#pragma omp parallel reduction(+ : started)
  ++started;
}

std::string advice_on_idle_cores(const JobCores& job, const std::string& host, int threads, int ranks) {
  if (threads >= job.count) return "";
  return fmt::format("{} of {} cores of {} lie idle: {} has bound {} to fewer; use {}, or more ranks",
                     job.count - threads, job.count, host, job.launcher, counted(ranks, "rank"), job.advice);
}

std::string advice_on_cores(const Communicator& communicator) {
  std::string text;
  on_this_machine(communicator, [&](const Communicator& machine) {
    const int used = machine.all_reduce(omp_get_max_threads(), MPI_SUM);
    const Runnable runnable = runnable_here(machine);
    const int fitting = machine.all_reduce(runnable.threads, MPI_SUM);
    const double quotas = machine.all_reduce(runnable.quota, MPI_SUM);
    if (threads_are_given() && used > fitting)
      text = fmt::format(
          "OMP_NUM_THREADS = {} makes {} threads on {}, where {} of them can run at a time: they wait for "
          "each other; without it spsolve starts as many as can run",
          std::getenv("OMP_NUM_THREADS"), used, host_name(), fitting);
    if (threads_are_given() || std::getenv("OMP_THREAD_LIMIT")) return;
    JobCores job = cores_of_job();
    job.count = static_cast<int>(std::min(quotas, static_cast<double>(job.count)));
    text = advice_on_idle_cores(job, host_name(), used, machine.size());
  });
  return communicator.broadcast(text);
}

}  // namespace spsolve
