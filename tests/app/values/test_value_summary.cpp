// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "app/values/value_summary.hpp"
#include "tests/support/fields.hpp"

namespace spsolve::testing {
namespace {

constexpr Index3 shape{5, 7, 11};

double value_of(const Index3& p) { return 0.25 * static_cast<double>(p[0] * 100 - p[1] * 10 + p[2]); }

/// Returns the facts of a grid that the ranks cut along an axis; each adds its rows in pieces of `piece`
/// points.
template <class Value>
ValueFacts facts(const Communicator& world, int axis, std::int64_t piece, Value&& value) {
  Box part = box_of(shape);
  part.begin[axis] = shape[axis] * world.rank() / world.size();
  part.end[axis] = shape[axis] * (world.rank() + 1) / world.size();
  ValueSummary summary(shape);
  for (std::int64_t row = row_count(part); row-- > 0;) {
    const Index3 first = row_begin(part, row);
    for (std::int64_t x = 0; x < part.extent()[x_axis]; x += piece) {
      const Index3 begin = first + Index3{0, 0, x};
      std::vector<double> values;
      for (Index3 p = begin; p[x_axis] < std::min(part.end[x_axis], begin[x_axis] + piece); ++p[x_axis])
        values.push_back(value(p));
      summary.add(begin, values);
    }
  }
  return summary.of_all(world);
}

TEST(ValueSummary, DependsOnValuesAndPlacesAlone) {
  const Communicator world;
  const ValueFacts all = facts(world, z_axis, 11, value_of);
  EXPECT_EQ(all.min, value_of({0, 6, 0}));
  EXPECT_EQ(all.max, value_of({4, 0, 10}));
  EXPECT_EQ(all.checksum.size(), 16u);
  for (const int axis : {z_axis, y_axis, x_axis})
    for (const std::int64_t piece : {1, 4, 11})
      EXPECT_EQ(facts(world, axis, piece, value_of).checksum, all.checksum);
}

TEST(ValueSummary, SeesAnyChange) {
  const Communicator world;
  const std::string all = facts(world, z_axis, 11, value_of).checksum;
  const auto changed = [&](const Index3& at, double value) {
    return facts(world, z_axis, 11, [&](const Index3& p) { return p == at ? value : value_of(p); }).checksum;
  };
  EXPECT_NE(changed({2, 3, 4}, std::nextafter(value_of({2, 3, 4}), 1e9)), all);
  // Two values are exchanged.
  const Index3 one{1, 1, 1}, other{3, 3, 3};
  EXPECT_NE(facts(world, z_axis, 11,
                  [&](const Index3& p) {
                    return value_of(p == one ? other : p == other ? one : p);
                  })
                .checksum,
            all);
  EXPECT_EQ(changed({0, 0, 0}, -0.0), all);
}

}  // namespace
}  // namespace spsolve::testing
