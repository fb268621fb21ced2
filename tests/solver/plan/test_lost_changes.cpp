// SPDX-License-Identifier: Apache-2.0
#include "solver/plan/lost_changes.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <optional>

#include "kernels/error.hpp"
#include "solver/plan/plan.hpp"

namespace spsolve {
namespace {

constexpr std::int64_t points = 64;
constexpr double k = 0.25;  // diffusivity dt / spacing^2

/// Holds a bar that conducts heat, sampled as a whole. It is periodic, or lies between a wall and another
/// that continues its temperature.
struct Bar {
  Stencil stencil{{1, 1, 3}, {k, 1 - 2 * k, k}, {0, 0, 1}};
  Domain domain{1, {1, 1, points}, {}};
  InitialSample initial{points, {}};

  explicit Bar(const std::function<double(double x)>& temperature, std::optional<double> wall = {}) {
    if (wall)
      domain.faces[x_axis] = {Face{BoundaryKind::dirichlet, *wall},
                              Face{BoundaryKind::dirichlet, temperature(points)}};
    std::vector<double> field;
    for (std::int64_t x = 0; x < points; ++x) field.push_back(temperature(static_cast<double>(x)));
    initial.parts.push_back({domain, domain.box(), field, {}});
  }
  bool freezes(Precision precision, int steps, double accuracy = 1e-2, std::int64_t run_steps = 1000) const {
    return LostChanges(stencil, initial, accuracy, run_steps).why_frozen(precision, steps).has_value();
  }
};

double warm(double) { return 300; }

TEST(LostChanges, AreThoseBelowHalfTheDistanceOfNeighbouringNumbers) {
  // The first step changes one point: by a quarter of the difference to the wall. At 300 half the distance of
  // two numbers is 1 in bf16, and 0.125 in the other formats of 11 significant bits.
  EXPECT_TRUE(Bar(warm, 303.9).freezes(Precision::bf16, 1));
  EXPECT_FALSE(Bar(warm, 304.1).freezes(Precision::bf16, 1));
  for (const Precision precision : {Precision::fp16, Precision::tf32}) {
    EXPECT_TRUE(Bar(warm, 300.4).freezes(precision, 1));
    EXPECT_FALSE(Bar(warm, 300.6).freezes(precision, 1));
  }
  EXPECT_TRUE(Bar(warm, 300.00006).freezes(Precision::fp32, 1, 1e-10));
  EXPECT_FALSE(Bar(warm, 300.00007).freezes(Precision::fp32, 1, 1e-10));
}

TEST(LostChanges, OfOneStepMayAddUpInALaunch) {
  // A step damps the wave by 4 k sin(pi / points)^2 = 0.24%. Half the distance of two numbers is 0.2% to
  // 0.4%.
  const Bar wave([](double x) { return std::sin(2 * std::numbers::pi * x / points); });
  EXPECT_TRUE(wave.freezes(Precision::bf16, 1));
  EXPECT_FALSE(wave.freezes(Precision::bf16, 4));
  EXPECT_FALSE(wave.freezes(Precision::fp16, 1));
}

TEST(LostChanges, MatterIfTheyAddUpToTheAcceptedErrorOverTheRun) {
  // In the tails of the peak steps change less than fp32 can tell, and the run by less than is accepted.
  const Bar peak([](double x) { return 300 + 100 * std::exp(-(x - 32) * (x - 32)); }, 300);
  EXPECT_FALSE(peak.freezes(Precision::fp32, 1, 1e-6, 10));
  const Bar small([](double x) { return 300 + 1e-5 * std::cos(x); }, 300);
  EXPECT_TRUE(small.freezes(Precision::fp32, 1, 1e-8, 10));
  EXPECT_FALSE(small.freezes(Precision::fp32, 1, 1e-6, 10)) << "3e-4 is accepted";
}

TEST(LostChanges, AreNoneWhereNothingChanges) {
  EXPECT_FALSE(Bar(warm, 300).freezes(Precision::bf16, 1));
  EXPECT_FALSE(Bar(warm).freezes(Precision::bf16, 16));
  // The profile is steady; fp64 rounds its changes to some 1e-14.
  Bar steady([](double x) { return 300 + (x + 1) / points / 3; }, 300);
  steady.stencil = Stencil({1, 1, 3}, {0.3, 0.4, 0.3}, {0, 0, 1});
  for (const int steps : {1, 16}) EXPECT_FALSE(steady.freezes(Precision::bf16, steps, 1e-7, 1LL << 40));
  EXPECT_FALSE(Bar([](double) { return 0; }, 1e-30).freezes(Precision::bf16, 1)) << "zero holds any change";
  Bar unknown(warm, 301);
  unknown.initial = {};
  EXPECT_FALSE(unknown.freezes(Precision::bf16, 1));
}

TEST(LostChanges, OfDeepLaunchesAreThoseOfTheStepsThatASampleCanTake) {
  Bar bar(warm, 301);
  bar.initial.steps = 2;
  const auto refusal = [&](int steps) {
    return LostChanges(bar.stencil, bar.initial, 1e-2, 1000).why_frozen(Precision::bf16, steps)->why;
  };
  EXPECT_THAT(refusal(2), ::testing::StartsWith("the first launch would lose the changes of "));
  EXPECT_THAT(refusal(16), ::testing::StartsWith("the first 2 of its 16 steps would lose the changes of "));
}

TEST(LostChanges, IncludeThoseOfTheSource) {
  Bar heated(warm);
  heated.initial.parts.front().source.assign(points, 0.5);
  EXPECT_TRUE(heated.freezes(Precision::bf16, 1));
  EXPECT_FALSE(heated.freezes(Precision::bf16, 3));
}

TEST(Plan, TakesNoCoarserPrecisionInWhichTheInitialStateFreezes) {
  using ::testing::Each, ::testing::Field, ::testing::HasSubstr;
  const Bar bar(warm, 301);
  const Problem problem{bar.domain, bar.stencil, Precision::fp64, false};
  PlanRequest request;
  request.accuracy = 1e-2;
  request.events = {1000, false, 0, 1000, 0};
  const auto in_bf16 = [](const Candidate& candidate) { return candidate.precision == Precision::bf16; };
  for (const DeviceModel& device : {nominal_cpu(), nominal_gpu()}) {
    request.initial = {};
    EXPECT_TRUE(std::ranges::any_of(make_plan(problem, device, request).candidates, in_bf16));
    request.initial = bar.initial;
    const Plan plan = make_plan(problem, device, request);
    EXPECT_TRUE(std::ranges::none_of(plan.candidates, in_bf16)) << "the wall warms no point by 1 K";
    EXPECT_THAT(
        describe(plan.rejected),
        ::testing::Contains(HasSubstr("rounding: the first launch would lose the changes of 1 of 1")));
    // The input names the problem's own precision, so it is taken whatever it loses.
    Problem coarse = problem;
    coarse.precision = Precision::bf16;
    EXPECT_EQ(make_plan(coarse, device, request).chosen.precision, Precision::bf16);
  }
  // Tensor cores take these weights in coarser precisions than fp64 only, and all would lose changes.
  Bar still([](double x) { return 300 + 1e-6 * std::cos(x); });
  request.unit = UnitKind::sparse_tensor;
  request.accuracy = 1e-2;
  request.events.steps = 1LL << 40;
  request.fuse = 1;
  request.initial = still.initial;
  try {
    make_plan({still.domain, still.stencil, Precision::fp64, false}, nominal_gpu(), request);
    ADD_FAILURE() << "a plan that freezes the state";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::AllOf(HasSubstr("nothing keeps it"), HasSubstr("rounding: ")));
  }
}

}  // namespace
}  // namespace spsolve
