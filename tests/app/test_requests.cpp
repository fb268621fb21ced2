// SPDX-License-Identifier: Apache-2.0
#include "app/requests.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

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

TEST(Requests, TheLimitLeavesTimeForFiles) {
  using std::chrono::milliseconds;
  struct Values : HostCopy {
    Field field{box_of({1, 1, 1}), {0, 0, 0}, Precision::fp64};
    const Field& wait() override { return field; }
  };
  FileQueue files(false);
  files.add(
      FileQueue::Kind::snapshot, std::make_shared<Values>(),
      [](const Field&) { std::this_thread::sleep_for(milliseconds(200)); }, [](const std::exception_ptr&) {});
  // A second before the limit ranks stop anyway.
  Signals signals;
  Requests requests(Communicator(), signals, Clock::now() - std::chrono::minutes(60) + milliseconds(1200), {},
                    60.0);
  EXPECT_EQ(requests.poll(files), Request::stop);
}

}  // namespace
}  // namespace spsolve
