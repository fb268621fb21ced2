// SPDX-License-Identifier: Apache-2.0
// In this job several threads of each rank abort it at the same time, as the main thread and the watchdog
// may. The job must end with the status that they name, not by a signal.
#include <thread>
#include <vector>

#include "halo/communicator.hpp"
#include "halo/mpi_session.hpp"

int main(int argc, char** argv) {
  using namespace spsolve;
  MpiSession mpi(argc, argv);
  const Communicator world;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 16; ++i) threads.emplace_back([&] { world.abort(Status::device_failure); });
}
