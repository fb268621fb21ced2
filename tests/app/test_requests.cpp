// SPDX-License-Identifier: Apache-2.0
#include "app/requests.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace spsolve {
namespace {

/// What every rank is answered after a launch, when the last rank has got a signal (0: none).
Request answer(Requests& requests, int signal) {
  const Communicator world;
  if (signal && world.rank() == world.size() - 1) std::raise(signal);
  return requests.poll(FileQueue(false));
}

TEST(Requests, SignalsOfAnyRankCount) {
  Signals signals;
  Requests requests(Communicator(), signals, Clock::now(), {}, {});
  EXPECT_EQ(answer(requests, SIGUSR2), Request::checkpoint);
  Requests others(Communicator(), signals, Clock::now(), {}, {});
  EXPECT_EQ(answer(others, SIGUSR1), Request::stop);
  EXPECT_STREQ(others.reason(), "a signal");
}

TEST(Requests, TheLimitCountsFromTheStartOfTheRun) {
  Signals signals;
  constexpr double limit = 60.0;  // minutes
  Requests fresh(Communicator(), signals, Clock::now(), {}, limit);
  EXPECT_EQ(answer(fresh, 0), Request::none);
  Requests late(Communicator(), signals, Clock::now() - std::chrono::minutes(60), {}, limit);
  EXPECT_EQ(answer(late, 0), Request::stop);
  EXPECT_STREQ(late.reason(), "the wall-time limit");
}

}  // namespace
}  // namespace spsolve
