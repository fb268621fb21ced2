// SPDX-License-Identifier: Apache-2.0
#include "halo/mpi_session.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

namespace spsolve {
namespace {

/// Returns the number of processes that the launcher says it started for this job step, and the environment
/// variable that says so. Returns 1 and an empty name if the launcher says nothing.
std::pair<const char*, int> launched_processes() {
  // For Slurm only the step's own count is used: a batch script runs once whatever SLURM_NTASKS says.
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (const char* value = std::getenv(variable)) return {variable, std::atoi(value)};
  return {"", 1};
}

}  // namespace

MpiSession::MpiSession(int& argc, char**& argv) {
  int provided = 0;
  check_mpi(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
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

bool is_first_process() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const char* value = std::getenv(variable)) return std::atoi(value) == 0;
  return true;
}

bool threads_may_communicate() {
  int provided = 0;
  check_mpi(MPI_Query_thread(&provided));
  return provided == MPI_THREAD_MULTIPLE;
}

}  // namespace spsolve
