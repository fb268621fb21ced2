// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "halo/communicator.hpp"

namespace spsolve {

/// Runs MPI from construction to destruction, with support for several threads if the library has it. Errors
/// are returned to check_mpi() instead of ending the job.
class MpiSession {
 public:
  MpiSession(int& argc, char**& argv);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
};

/// Throws Error(invalid_input) if the launcher says that it started several processes but MPI sees only one:
/// each process would solve the whole problem.
void require_launched_ranks(const Communicator& world);

/// Returns true if this process is the first one that a launcher started, as far as the environment tells, or
/// if its parent is no launcher: each process that a wrapper of a launched job starts (a shell, a profiler)
/// counts as the first. The first process prints messages while MPI does not run.
bool is_first_process();

/// Removes settings of MPI from the environment of this process unless a launcher started it: MPI ends a
/// process in which the job of the shell, or a transport of another machine, cannot be reached. Then sets
/// that Open MPI starts no daemon beside the process and makes no directory for its ranks. Call it before MPI
/// starts, for work that needs no other rank.
void forget_mpi_settings_without_launcher();

/// Returns true if several threads of each rank may communicate concurrently, each on its own communicator.
bool threads_may_communicate();

}  // namespace spsolve
