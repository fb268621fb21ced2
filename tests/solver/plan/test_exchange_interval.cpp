// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "io/language/parser.hpp"
#include "io/language/resolve.hpp"
#include "kernels/catalogue/presets.hpp"
#include "solver/plan/exchange_interval.hpp"

namespace spsolve {
namespace {

/// Returns the launches per exchange of star2d1r with 8 steps per launch on a grid cut along y.
int launches(const Index3& shape, int ranks, BoundaryKind walls = BoundaryKind::periodic, bool gpu = true,
             UnitKind unit = UnitKind::scalar) {
  Problem problem{{2, shape, {}}, make_preset("star2d1r", 2, {1, 1, 1}, {}), Precision::fp32, false};
  for (const int axis : {y_axis, x_axis}) problem.domain.faces[axis] = {Face{walls}, Face{walls}};
  Candidate candidate;
  candidate.unit = unit;
  candidate.fuse = 8;
  candidate.seconds = 1.0 / 3e12;
  return launches_per_exchange(problem, Decomposition(shape, {1, ranks, 1}), candidate, gpu);
}

TEST(ExchangeInterval, IsOneWhereExchangesCostLittle) {
  EXPECT_EQ(launches({1, 1024, 1024}, 4, BoundaryKind::periodic, false), 1) << "CPU";
  EXPECT_EQ(launches({1, 1024, 1024}, 1, BoundaryKind::dirichlet), 1) << "nothing to exchange";
  EXPECT_EQ(launches({1, 1 << 20, 1 << 20}, 4), 1) << "computing takes long";
}

TEST(ExchangeInterval, GrowsWhereComputingIsShort) {
  EXPECT_GT(launches({1, 16384, 16384}, 8), 1);
  EXPECT_EQ(launches({1, 16384, 16384}, 8, BoundaryKind::periodic, true, UnitKind::tensor), 1)
      << "fused weights";
  EXPECT_GE(launches({1, 8192, 8192}, 8), launches({1, 16384, 16384}, 8));
}

TEST(ExchangeInterval, IsLongerWherePeriodicCopiesOfRowsAreMadeFirst) {
  // The problem is star3d1r with 4 steps per launch on quarters of 1024^3, cut along z, on H200.
  const Index3 shape{512, 1024, 1024};
  const Problem problem{{3, shape, {}}, make_preset("star3d1r", 3, {1, 1, 1}, {}), Precision::fp32, false};
  Candidate candidate;
  candidate.fuse = 4;
  candidate.seconds = 1.0 / 1.35e12;
  const auto launches = [&](const Index3& ranks) {
    return launches_per_exchange(problem, Decomposition(shape, ranks), candidate, true);
  };
  EXPECT_EQ(launches({2, 1, 1}), 1);
  candidate.copy_seconds = 0.06 * candidate.seconds;
  EXPECT_EQ(launches({2, 1, 1}), 2);
}

TEST(ExchangeInterval, IsOneWhereNoAxisHasImages) {
  const Index3 shape{64, 64, 64};
  const Problem problem{{3, shape, {}}, make_preset("star3d6r", 3, {1, 1, 1}, {}), Precision::fp32, false};
  Candidate candidate;
  candidate.seconds = 1.0 / 50e9;
  const auto launches = [&](const Index3& ranks) {
    return launches_per_exchange(problem, Decomposition(shape, ranks), candidate, true);
  };
  EXPECT_GT(launches({1, 1, 1}), 1);
  candidate.wraps = {true, true, true};
  EXPECT_EQ(launches({1, 1, 1}), 1);
  const int with_others = launches({2, 1, 1});
  candidate.wraps[z_axis] = false;
  EXPECT_EQ(launches({2, 1, 1}), with_others) << "what comes from others is no periodic copy";
}

TEST(ExchangeInterval, NeverReachesBeyondTheNextBlock) {
  for (const std::int64_t rows : {8, 9, 15, 16, 17, 33})
    EXPECT_LE(8 * launches({1, 4 * rows, 512}, 4), std::max<std::int64_t>(rows, 8)) << rows;
}

/// Waves between two GPUs: later launches need the previous values of others too, and an exchange is dear
/// beside a launch of 0.75 ms.
TEST(ExchangeInterval, CountsPreviousValuesOfSystems) {
  StepNames names;
  names.fields = {"p"};
  names.coefficients = {"c"};
  names.dt = 0.1;
  const Index3 shape{1024, 512, 512};
  const Problem problem = system_problem(
      std::make_shared<const Equations>(
          canonical_form(resolve_step(parse_step("p.next = 2*p - p.previous + (c*dt)^2*laplace(p)"), names)),
          std::vector<Domain>{{.dimensions = 3, .shape = shape}}, names.dt),
      Precision::fp32);
  const Decomposition decomposition(shape, {2, 1, 1});
  Candidate candidate;
  candidate.seconds = 1.0 / 180e9;
  candidate.wraps = {false, true, true};
  const auto bytes = [&](int launches) {
    return share_exchange(problem, decomposition, candidate, launches).received_bytes;
  };
  const double plane_bytes = 512 * 512 * 4.0;
  EXPECT_EQ(bytes(1), 2 * plane_bytes);
  EXPECT_EQ(bytes(2), 2 * 2 * 2 * plane_bytes);
  EXPECT_GT(launches_per_exchange(problem, decomposition, candidate, true), 1);
}

}  // namespace
}  // namespace spsolve
