// SPDX-License-Identifier: Apache-2.0
// This program tunes although one rank cannot send its halos: the job must end. If that rank skipped the
// candidate and began the next one, the others would wait for its halos forever.
#include "app/setup/planning.hpp"
#include "app/setup/tune.hpp"
#include "halo/mpi_session.hpp"
#include "kernels/catalogue/presets.hpp"

/// This function replaces that of MPI.
extern "C" int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag,
                         MPI_Comm communicator, MPI_Request* request) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 1 ? MPI_ERR_OTHER : PMPI_Isend(data, count, type, to, tag, communicator, request);
}

int main(int argc, char** argv) {
  using namespace spsolve;
  MpiSession mpi(argc, argv);
  const Communicator world;
  constexpr bool has_source = true;
  const Problem problem{
      {2, {1, 64, 64}, {}}, make_preset("star2d1r", 2, {1, 1, 1}, {}), Precision::fp64, has_source};
  try {
    tuned_plan(world, problem, {}, agreed_plan(world, problem, nominal_cpu(), {}), {}, {}, {},
               Terminal(world, true));
  } catch (const Error& error) {
    world.abort(error);
  }
}
