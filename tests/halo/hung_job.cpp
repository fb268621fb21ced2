// SPDX-License-Identifier: Apache-2.0
// In this job every rank waits forever for another. The watchdog must end it.
#include <chrono>
#include <thread>

#include "halo/mpi_session.hpp"
#include "halo/watchdog.hpp"

int main(int argc, char** argv) {
  using namespace spsolve;
  MpiSession mpi(argc, argv);
  const Communicator world;
  Watchdog watch(world, "a machine", 2.0);
  watch.enter(Phase::exchange);
  watch.reach(world.rank() == 1 ? 41 : 42);
  watch.checkpoint_written(40);
  std::this_thread::sleep_for(std::chrono::minutes(2));
}
