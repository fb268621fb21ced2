// SPDX-License-Identifier: Apache-2.0
#include "halo/watchdog.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace spsolve {
namespace {

using std::chrono::milliseconds;

/// The watchdog must not end ranks that do something long or that have finished.
TEST(Watchdog, LeavesBusyRanksAlone) {
  const Communicator world;
  constexpr double timeout = 1.0;  // seconds
  Watchdog watch(world, "somewhere", timeout);
  watch.enter(world.root() ? Phase::snapshot : Phase::exchange);
  std::this_thread::sleep_for(milliseconds(2500 + 500 * world.rank()));
}

TEST(Watchdog, LeavesRanksThatGetOnAlone) {
  const Communicator world;
  Watchdog watch(world, "somewhere", 1.0);
  for (int step = 0; step < 5; ++step) {
    watch.enter(Phase::exchange);
    std::this_thread::sleep_for(milliseconds(400));
    watch.reach(step);
  }
}

TEST(Watchdog, SaysWhereARankIs) {
  const Communicator world;
  Watchdog watch(world, "node7: GPU 1", 30.0);
  watch.enter(Phase::exchange);
  watch.reach(4000);
  const std::string rank = "rank " + std::to_string(world.rank()) + " on node7: GPU 1, step 4000, exchange; ";
  EXPECT_EQ(watch.whereabouts(), rank + "last checkpoint: none");
  watch.checkpoint_written(3000);
  watch.checkpoint_written(-1);
  EXPECT_EQ(watch.whereabouts(), rank + "last checkpoint: step 3000");
}

/// Ranks that make progress reach a point where they react, so they report nothing.
TEST(Watchdog, SaysWhereARankIsThatIsToldToEndAndDoesNotGetOn) {
  const Communicator world;
  for (const bool gets_on : {true, false}) {
    ::testing::internal::CaptureStderr();
    {
      Watchdog watch(world, "somewhere", 30.0, [] { return true; });
      for (int step = 0; step < 40; ++step) {
        if (gets_on) watch.reach(step);
        std::this_thread::sleep_for(milliseconds(25));
      }
    }
    const bool speaks = ::testing::internal::GetCapturedStderr().find("told to end") != std::string::npos;
    EXPECT_EQ(speaks, !gets_on && world.size() > 1 && world.rank() < 2) << gets_on;
  }
}

/// An exception that all ranks throw must not make any rank wait.
TEST(Watchdog, IsAbandonedByExceptions) {
  const Communicator world;
  const auto fail = [&] {
    Watchdog watch(world, "somewhere", 30.0);
    throw Error(Status::diverged, "NaN");
  };
  EXPECT_THROW(fail(), Error);
}

}  // namespace
}  // namespace spsolve
