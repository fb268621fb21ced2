// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/points/host_points.hpp"
#include "tests/support/fields.hpp"
#include "tests/support/recorded_values.hpp"

namespace spsolve {
namespace {

/// Returns a grid with a periodic axis y and walls along x.
Domain grid() {
  Domain domain{.dimensions = 2, .shape = {1, 5, 7}};
  domain.faces[x_axis] = {Face{BoundaryKind::neumann}, Face{BoundaryKind::neumann}};
  return domain;
}

TEST(PeriodicCopiesOfPoints, LieOnceInEveryPeriod) {
  const Domain domain = grid();
  for (const Box& box : {domain.box(), grow(domain.box(), {0, 12, 3}), Box{{0, 3, 2}, {1, 4, 5}}})
    for_each_point(domain.box(), [&](const Index3& p) {
      std::vector<Index3> expected;
      for_each_point(box, [&](const Index3& q) {
        if (q[x_axis] == p[x_axis] && wrap(q[y_axis], domain.shape[y_axis]) == p[y_axis])
          expected.push_back(q);
      });
      EXPECT_EQ(periodic_copies_of(p, domain, box), expected);
    });
}

/// A group has rows of its own steps, and the newest rows replace the oldest.
TEST(RecordedRows, HoldTheNewestSteps) {
  Field field(grid().box(), {0, 0, 0}, Precision::fp64);
  HostPoints points({{}, 0, {{1, 4, {{0, {0, 1, 2}}, {0, {0, 4, 6}}}}, {3, 2, {{0, {0, 0, 0}}}}}}, {},
                    Precision::fp64);
  for (std::int64_t step = 0; step <= 10; ++step) {
    for_each_point(field.owned(), [&](const Index3& p) {
      *field.at<double>(p) = static_cast<double>(100 * step + index_of(p, grid().shape));
    });
    points.record(State(field), step);
  }
  const auto values = [&](std::size_t group, std::int64_t first, std::int64_t count) {
    return testing::recorded_values(*points.fetch(group, first, count), Precision::fp64);
  };
  EXPECT_EQ(values(0, 7, 4), (std::vector<double>{709, 734, 809, 834, 909, 934, 1009, 1034}));
  EXPECT_EQ(values(1, 2, 2), (std::vector<double>{600, 900}));
}

/// The products of three numbers of fp32 and their weights need more digits than fp32 has: a sum in fp32
/// would be 0.
TEST(RecordedRows, SumSharesInDouble) {
  Field field(grid().box(), {0, 0, 0}, Precision::fp32);
  const Index3 a{0, 0, 1}, b{0, 2, 3}, c{0, 4, 6};
  *field.at<float>(a) = 1;
  *field.at<float>(b) = 0x1p-20F;
  *field.at<float>(c) = -1;
  const std::vector<FieldPoint> recorded{{0, a}, {0, b}, {0, c}};
  HostPoints points({{}, 0, {{1, 1, recorded, {{0, 0.5}, {1, 0x1p-10}, {2, 0.5}, {1, 1.0}}, {0, 3, 4}}}}, {},
                    Precision::fp32);
  points.record(State(field), 0);
  EXPECT_EQ(testing::recorded_values(*points.fetch(0, 0, 1), Precision::fp32),
            (std::vector<double>{0x1p-30, 0x1p-20}));
}

TEST(AddedPoints, TakeTheAmountsOfTheirStepAndColumn) {
  Field field(grid().box(), {0, 2, 0}, Precision::fp32);
  const Index3 p{0, 4, 3}, image{0, -1, 3}, other{0, 2, 2};
  HostPoints points(
      {{{{0, p}, 1}, {{0, image}, 1}, {{0, other}, 0}}, 2, {}},
      [](std::int64_t step, std::span<double> amounts) {
        amounts[0] = static_cast<double>(step);
        amounts[1] = 0.25;
      },
      Precision::fp32);
  points.provide(5, 3);
  for (const std::int64_t step : {5, 6, 7}) points.add(State(field), step);
  EXPECT_EQ(testing::value_at(field, p), 0.75);
  EXPECT_EQ(testing::value_at(field, image), 0.75);
  EXPECT_EQ(testing::value_at(field, other), 18);
}

}  // namespace
}  // namespace spsolve
