// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "halo/communicator.hpp"
#include "halo/mpi_session.hpp"

/// Runs GoogleTest under mpirun: every rank runs every test, only rank 0 prints unless a rank has a failure,
/// and the exit status is that of the worst rank.
int main(int argc, char** argv) {
  spsolve::MpiSession mpi(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  const spsolve::Communicator world;
  if (!world.root())
    delete testing::UnitTest::GetInstance()->listeners().Release(
        testing::UnitTest::GetInstance()->listeners().default_result_printer());
  const int failed = RUN_ALL_TESTS();
  if (failed && !world.root())
    for (int i = 0; i < testing::UnitTest::GetInstance()->total_test_suite_count(); ++i) {
      const auto* suite = testing::UnitTest::GetInstance()->GetTestSuite(i);
      for (int j = 0; j < suite->total_test_count(); ++j) {
        const auto* result = suite->GetTestInfo(j)->result();
        for (int k = 0; k < result->total_part_count(); ++k)
          if (result->GetTestPartResult(k).failed())
            std::fprintf(stderr, "rank %d: %s.%s: %s\n", world.rank(), suite->name(),
                         suite->GetTestInfo(j)->name(), result->GetTestPartResult(k).message());
      }
    }
  return world.all_reduce(failed, MPI_MAX);
}
