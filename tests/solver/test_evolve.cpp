// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <limits>

#include "solver/evolve.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/blocks.hpp"

namespace spsolve {
namespace {

using Steps = std::vector<std::int64_t>;

Steps stops(Schedule schedule) {
  Steps all;
  for (std::int64_t step = schedule.first; step < schedule.last;)
    all.push_back(step = next_stop(schedule, step));
  return all;
}

TEST(Schedule, LaunchesEndAtEventsAndOneStepBeforeDiagnostics) {
  EXPECT_EQ(stops({0, 20, 0, 0, 0, 8}), (Steps{8, 16, 19, 20}));
  EXPECT_EQ(stops({0, 20, 10, 0, 0, 8}), (Steps{8, 10, 18, 19, 20}));
  EXPECT_EQ(stops({0, 12, 0, 6, 0, 4}), (Steps{4, 5, 6, 10, 11, 12}));
  EXPECT_EQ(stops({0, 10, 0, 0, 3, 100}), (Steps{3, 6, 9, 10}));
  EXPECT_EQ(stops({0, 3, 0, 1, 0, 4}), (Steps{1, 2, 3}));
  EXPECT_EQ(stops({0, 1, 0, 0, 0, 4}), (Steps{1}));
}

TEST(Schedule, SingleStepsComeFirstWhereTheStateKeepsPreviousValues) {
  Schedule schedule{0, 20, 0, 12, 0, 8};
  schedule.keeps_previous = true;
  EXPECT_EQ(stops(schedule), (Steps{1, 2, 3, 4, 12, 20}));
}

TEST(Schedule, GoesOnFromAnyStopAsIfItHadNotStopped) {
  const Schedule whole{0, 100, 30, 7, 12, 5};
  const Steps all = stops(whole);
  for (std::size_t i = 0; i < all.size(); ++i) {
    Schedule rest = whole;
    rest.first = all[i];
    EXPECT_EQ(stops(rest), Steps(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end()));
  }
}

TEST(LargestChange, IsThatOfAnyFieldAndInfiniteWhereNormsAreBeyondADouble) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto field = [](double l2, double change) { return Diagnostics{0, 0, 0, l2, change}; };
  EXPECT_EQ(largest_change({field(4, 1), field(8, 1)}), 0.25);
  EXPECT_EQ(largest_change({field(0, 0), field(infinity, 0)}), 0);
  EXPECT_EQ(largest_change({field(0, 1)}), infinity);
  EXPECT_EQ(largest_change({field(infinity, infinity), field(4, 1)}), infinity);
}

TEST(Schedule, LengthsOfLaunchesAreKnownBefore) {
  EXPECT_EQ(launch_lengths({0, 200, 100, 20, 100, 8}), (std::set{1, 3, 8}));
  EXPECT_EQ(launch_lengths({0, std::int64_t{1} << 40, 0, 0, 0, 8}), std::set{8});
  EXPECT_EQ(launch_lengths({5, 5, 0, 0, 0, 8}), std::set<int>{});
}

/// Records the events of a run.
struct Recorded {
  Communicator world;
  Backend& backend;
  testing::RandomCase random{3, 2, 900};
  Problem problem{random.domain, random.stencil, Precision::fp64, false};
  Steps snapshots = {}, checkpoints = {}, diagnostics = {};
  std::string order = {};  // order of all events: s, c, d
  std::int64_t stop_at = -1;
  Request request = Request::stop;

  Observers observers() {
    const auto record = [this](Steps& steps, char event) {
      return [this, &steps, event](std::int64_t step, const auto&) {
        steps.push_back(step);
        order += event;
      };
    };
    return {record(snapshots, 's'), record(checkpoints, 'c'), record(diagnostics, 'd'),
            [this](std::int64_t step) { return step == stop_at ? request : Request::none; }};
  }
  Outcome run(const Schedule& schedule, const std::vector<double>& initial) {
    random.domain.shape[x_axis] = std::max<std::int64_t>(random.domain.shape[x_axis], 4);
    problem.domain = random.domain;
    Block block(world, problem, Decomposition(problem.domain.shape, {1, 1, world.size()}), schedule.fuse,
                backend);
    block.set_state(testing::values_of(problem.domain, initial));
    return evolve(block, world, problem, schedule, observers()).outcome;
  }
  std::vector<double> initial() { return random.uniform(4 * random.domain.box().points() + 16); }
};

class Evolve : public testing::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Evolve, testing::devices());

TEST_P(Evolve, CallsObserversAtTheirSteps) {
  Recorded run{world, backend()};
  EXPECT_EQ(run.run({0, 20, 8, 5, 6, 4}, run.initial()), Outcome::finished);
  EXPECT_EQ(run.snapshots, (Steps{0, 8, 16, 20}));
  EXPECT_EQ(run.checkpoints, (Steps{6, 12, 18}));
  EXPECT_EQ(run.diagnostics, (Steps{0, 5, 10, 15, 20}));
}

TEST_P(Evolve, GoesOnFromAStepWithoutItsEvents) {
  Recorded run{world, backend()};
  EXPECT_EQ(run.run({8, 20, 8, 4, 8, 4}, run.initial()), Outcome::finished);
  EXPECT_EQ(run.snapshots, (Steps{16, 20}));
  EXPECT_EQ(run.checkpoints, (Steps{16}));
  EXPECT_EQ(run.diagnostics, (Steps{12, 16, 20}));
}

TEST_P(Evolve, WithoutCadenceWritesTheLastStepOnly) {
  Recorded run{world, backend()};
  EXPECT_EQ(run.run({0, 9, 0, 0, 0, 4}, run.initial()), Outcome::finished);
  EXPECT_EQ(run.snapshots, (Steps{9}));
  EXPECT_EQ(run.checkpoints, Steps{});
  EXPECT_EQ(run.diagnostics, (Steps{0, 9}));
}

TEST_P(Evolve, WritesACheckpointAfterAllThatARestartFromItDoesNotRepeat) {
  Recorded run{world, backend()};
  EXPECT_EQ(run.run({0, 6, 4, 2, 2, 3}, run.initial()), Outcome::finished);
  EXPECT_EQ(run.order, "sddcsdcsdc");  // at steps 0, 2, 4, 6
}

TEST_P(Evolve, StopsWithOneCheckpointWhenAsked) {
  Recorded run{world, backend()};
  run.stop_at = 8;
  EXPECT_EQ(run.run({0, 20, 0, 0, 4, 4}, run.initial()), Outcome::stopped);
  EXPECT_EQ(run.checkpoints, (Steps{4, 8}));
  EXPECT_EQ(run.snapshots, Steps{});
}

TEST_P(Evolve, IsFinishedWhereItIsAskedToStopAtTheLastStep) {
  Recorded run{world, backend()};
  run.stop_at = 8;
  EXPECT_EQ(run.run({0, 8, 0, 0, 0, 4}, run.initial()), Outcome::finished);
  EXPECT_EQ(run.checkpoints, Steps{});
}

TEST_P(Evolve, GoesOnAfterACheckpointThatWasAskedFor) {
  Recorded run{world, backend()};
  run.stop_at = 8;
  run.request = Request::checkpoint;
  EXPECT_EQ(run.run({0, 20, 0, 0, 0, 4}, run.initial()), Outcome::finished);
  EXPECT_EQ(run.checkpoints, (Steps{8}));
}

TEST_P(Evolve, NoStepsWritesTheInitialState) {
  Recorded run{world, backend()};
  EXPECT_EQ(run.run({0, 0, 0, 0, 0, 4}, run.initial()), Outcome::finished);
  EXPECT_EQ(run.snapshots, (Steps{0}));
}

TEST_P(Evolve, DivergenceEndsTheRunAfterACheckpointOfTheLastFiniteState) {
  // Doubling from 2^1020 is finite after 3 steps (2^1023) and infinite after 4. Values are checked then, or
  // at the end.
  for (const bool in_time : {true, false}) {
    Recorded run{world, backend()};
    run.problem.stencil = Stencil({1, 1, 1}, {2.0}, {0, 0, 0});
    auto initial = run.initial();
    for (double& value : initial) value = 0x1p1020;
    try {
      run.run({0, 10, 0, in_time ? 4 : 0, 0, 2}, initial);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::diverged);
      EXPECT_THAT(error.what(), ::testing::HasSubstr(in_time ? "step 4" : "step 10"));
      EXPECT_EQ(run.checkpoints, in_time ? Steps{3} : Steps{});
      EXPECT_EQ(run.diagnostics, (Steps{0}));
    }
  }
}

TEST_P(Evolve, BeforeAnInitialStateThatIsNotFiniteThereIsNone) {
  Recorded run{world, backend()};
  const std::vector<double> initial(run.initial().size(), std::numeric_limits<double>::infinity());
  EXPECT_THROW(run.run({0, 10, 0, 0, 0, 2}, initial), Error);
  EXPECT_EQ(run.order, "");
}

}  // namespace
}  // namespace spsolve
