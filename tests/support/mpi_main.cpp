// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>

#include "halo/communicator.hpp"
#include "halo/mpi_session.hpp"

namespace spsolve {
namespace {

/// Prints failures of ranks other than 0. A failure that ends a test on any rank ends the job, and later
/// tests do not run: ranks without this failure would wait for this rank until the job has no time left.
class FailuresOfRank : public testing::EmptyTestEventListener {
 public:
  explicit FailuresOfRank(const Communicator& world) : world_(world) {}

  // GoogleTest holds a lock while it reports a result, so a result does not find its test then.
  void OnTestStart(const testing::TestInfo& test) override { test_ = &test; }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed() && test_ && !world_.root())
      std::fprintf(stderr, "rank %d: %s.%s: %s\n", world_.rank(), test_->test_suite_name(), test_->name(),
                   result.message());
    if (result.fatally_failed()) MPI_Abort(MPI_COMM_WORLD, 1);
  }

 private:
  const Communicator& world_;
  const testing::TestInfo* test_ = nullptr;
};

}  // namespace
}  // namespace spsolve

/// Runs GoogleTest under mpirun: every rank runs every test, only rank 0 prints unless a rank has a failure,
/// and the exit status is that of the worst rank.
int main(int argc, char** argv) {
  spsolve::MpiSession mpi(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  const spsolve::Communicator world;
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  if (!world.root()) delete listeners.Release(listeners.default_result_printer());
  if (world.size() > 1) listeners.Append(new spsolve::FailuresOfRank(world));
  return world.all_reduce(RUN_ALL_TESTS(), MPI_MAX);
}
