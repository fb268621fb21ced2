// SPDX-License-Identifier: Apache-2.0
#include "halo/mpi_session.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "halo/loaded_libraries.hpp"

namespace spsolve {
namespace {

/// Returns the number of processes that the launcher says it started for this job step, and the environment
/// variable that says so. Returns 1 and an empty name if the launcher says nothing.
std::pair<const char*, int> launched_processes() {
  // From Slurm only the count of the step is taken: a batch script runs once whatever SLURM_NTASKS says.
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (const char* value = std::getenv(variable)) return {variable, std::atoi(value)};
  return {"", 1};
}

/// Returns the rank that a launcher has given this process, if the environment tells.
std::optional<int> rank_by_environment() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const char* value = std::getenv(variable)) return std::atoi(value);
  return std::nullopt;
}

/// Returns true if the parent of this process is a launcher of Open MPI, MPICH or Slurm. What a launcher sets
/// in the environment of a rank also reaches what the rank starts: a shell, and programs from there.
bool has_launcher_as_parent() {
  std::string parent;
  std::ifstream(fmt::format("/proc/{}/comm", getppid())) >> parent;
  constexpr std::array launchers{"mpirun",  "mpiexec", "orterun",         "orted",
                                 "prterun", "prted",   "hydra_pmi_proxy", "slurmstepd"};
  return std::ranges::find(launchers, parent) != launchers.end();
}

/// Returns true if a launcher that connects processes for MPI has started this one. Slurm also sets
/// SLURM_PROCID in a shell that srun starts, and in what that shell starts.
bool has_launcher() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})
    if (std::getenv(variable)) return true;
  return std::getenv("SLURM_PROCID") && has_launcher_as_parent();
}

/// Tells Open MPI to start no daemon beside a process that no launcher started, and no directory for its
/// ranks: there are no others, and the daemon asks for ssh. What the user has set stays.
void start_without_daemon() {
  setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  setenv("OMPI_MCA_orte_create_session_dirs", "0", 0);
}

/// Keeps the plug-ins that MPI has loaded so far in memory until the process ends. MPI_Finalize() of Open MPI
/// 4.1 unloads them while one of its threads may still call a function of one, and the process then ends with
/// a segmentation fault (docs/internals/ranks.md).
void keep_plugins_of_mpi() {
  for (const std::string& library : loaded_libraries())
    if (library.find("mca_") != std::string::npos)
      dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace

MpiSession::MpiSession(int& argc, char**& argv) {
  if (!rank_by_environment()) start_without_daemon();
  int provided = 0;
  check_mpi(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
  keep_plugins_of_mpi();
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
}

MpiSession::~MpiSession() { MPI_Finalize(); }

void require_launched_ranks(const Communicator& world) {
  const auto [variable, launched] = launched_processes();
  if (launched > 1 && world.size() == 1)
    throw Error(
        Status::invalid_input,
        fmt::format(
            "the launcher started {} processes but MPI sees one: each would solve the whole problem. Use "
            "`srun --mpi=pmix`, or the mpirun of the MPI library that spsolve was built with; in a shell "
            "inside of a job, where this is meant to be one process, `env -u {} spsolve ...`",
            launched, variable));
}

bool is_first_process() { return rank_by_environment().value_or(0) == 0 || !has_launcher_as_parent(); }

void forget_mpi_settings_without_launcher() {
  if (has_launcher()) return;
  // With one of these variables Open MPI looks for Flux, Slurm or ALPS.
  constexpr std::array<std::string_view, 3> of_jobs{"FLUX_JOB_ID", "SLURM_NODELIST", "ALPS_APP_ID"};
  std::vector<std::string> names;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view name = std::string_view(*entry).substr(0, std::string_view(*entry).find('='));
    if (name.starts_with("OMPI_MCA_") || name.starts_with("PMIX_MCA_") ||
        std::ranges::find(of_jobs, name) != of_jobs.end())
      names.emplace_back(name);
  }
  for (const std::string& name : names) unsetenv(name.c_str());
  start_without_daemon();
}

bool threads_may_communicate() {
  int provided = 0;
  check_mpi(MPI_Query_thread(&provided));
  return provided == MPI_THREAD_MULTIPLE;
}

}  // namespace spsolve
