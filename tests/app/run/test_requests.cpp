// SPDX-License-Identifier: Apache-2.0
#include "app/run/requests.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <thread>

namespace spsolve {
namespace {

/// Returns the answer that every rank receives after a launch, when the last rank has received a signal (0:
/// none).
Request answer(Requests& requests, int signal) {
  const Communicator world;
  if (signal && world.rank() == world.size() - 1) std::raise(signal);
  return requests.poll(FileQueue(false));
}

TEST(Requests, SignalsOfAnyRankCount) {
  Signals signals;
  Requests requests(Communicator(), signals, Clock::now(), {}, {}, 0);
  EXPECT_EQ(answer(requests, SIGUSR2), Request::checkpoint);
  Requests others(Communicator(), signals, Clock::now(), {}, {}, 0);
  EXPECT_EQ(answer(others, SIGUSR1), Request::stop);
  EXPECT_STREQ(others.reason(), "a signal");
}

/// Returns how an INT is received that was handled by `at_first` when a run began, after a library has set
/// the handler `by_library`.
std::optional<int> after_interrupt(void (*at_first)(int), void (*by_library)(int)) {
  std::signal(SIGINT, at_first);
  Signals signals;
  signals.await_interrupt();
  std::signal(SIGINT, by_library);
  EXPECT_EQ(signals.next(), std::nullopt);
  std::raise(SIGINT);
  const std::optional<int> result = signals.next();
  std::signal(SIGINT, SIG_DFL);
  return result;
}

TEST(Signals, InterruptsAreTakenBackFromLibraries) {
  const auto deadly = [](int) { std::abort(); };
  EXPECT_EQ(after_interrupt(SIG_DFL, SIG_DFL), SIGINT);
  EXPECT_EQ(after_interrupt(SIG_DFL, deadly), SIGINT);
  EXPECT_EQ(after_interrupt(SIG_DFL, SIG_IGN), SIGINT);
  EXPECT_EQ(after_interrupt(SIG_IGN, deadly), std::nullopt);
}

TEST(Requests, TheLimitCountsFromTheStartOfTheRun) {
  Signals signals;
  constexpr double limit = 60.0;  // minutes
  Requests fresh(Communicator(), signals, Clock::now(), {}, limit, 0);
  EXPECT_EQ(answer(fresh, 0), Request::none);
  Requests late(Communicator(), signals, Clock::now() - std::chrono::minutes(60), {}, limit, 0);
  EXPECT_EQ(answer(late, 0), Request::stop);
  EXPECT_STREQ(late.reason(), "the wall-time limit");
}

/// Returns true if a run with a limit of an hour stops when `left` of it is left.
bool stops(std::chrono::milliseconds left, double checkpoint_bytes, std::chrono::milliseconds launch = {}) {
  Signals signals;
  Requests requests(Communicator(), signals, Clock::now() - std::chrono::minutes(60) + left + launch, {},
                    60.0, checkpoint_bytes);
  std::this_thread::sleep_for(launch);
  return requests.poll(FileQueue(false)) == Request::stop;
}

TEST(Requests, TheLimitLeavesTimeForTheCheckpoint) {
  using namespace std::chrono_literals;
  EXPECT_FALSE(stops(10s, 1e6));
  EXPECT_TRUE(stops(10s, 1e9));  // 5 s for the checkpoint, before any file was written, and the same again
  EXPECT_FALSE(stops(60s, 1e9));
}

TEST(Requests, TheLimitLeavesTimeForALaunch) {
  using namespace std::chrono_literals;
  EXPECT_FALSE(stops(3000ms, 0));
  EXPECT_TRUE(stops(3000ms, 0, 1500ms));
}

}  // namespace
}  // namespace spsolve
