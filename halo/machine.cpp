// SPDX-License-Identifier: Apache-2.0
#include "halo/machine.hpp"

#include <unistd.h>

namespace spsolve {

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

void on_this_machine(const Communicator& communicator,
                     const std::function<void(const Communicator& machine)>& work) {
  MPI_Comm machine = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(communicator.handle(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine));
  work(Communicator(machine));
  check_mpi(MPI_Comm_free(&machine));
}

int ranks_on_this_machine(const Communicator& communicator) {
  int ranks = 0;
  on_this_machine(communicator, [&](const Communicator& machine) { ranks = machine.size(); });
  return ranks;
}

int rank_on_this_machine(const Communicator& communicator) {
  int rank = 0;
  on_this_machine(communicator, [&](const Communicator& machine) { rank = machine.rank(); });
  return rank;
}

}  // namespace spsolve
