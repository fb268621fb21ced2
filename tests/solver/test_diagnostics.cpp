// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "solver/diagnostics.hpp"
#include "tests/support/blocks.hpp"

namespace spsolve {
namespace {

constexpr Index3 shape{7, 11, 29};

struct Fields {
  Field now, before;
};

Fields fields_of(const Communicator& world, double scale) {
  const Decomposition decomposition(shape, least_surface_rank_grid(shape, world.size(), {1, 1, 1}));
  const Domain domain{3, shape, {}};
  testing::RandomCase random(5);
  auto now = random.uniform(volume(shape)), before = random.uniform(volume(shape));
  for (double& value : now) value *= scale;
  for (double& value : before) value *= scale;
  Fields fields{Field(decomposition.block(world.rank()), {1, 1, 1}, Precision::fp64),
                Field(decomposition.block(world.rank()), {1, 1, 1}, Precision::fp64)};
  testing::set_points(fields.now, fields.now.owned(), domain, now);
  testing::set_points(fields.before, fields.before.owned(), domain, before);
  return fields;
}

TEST(Diagnostics, MatchLongDoubleSumsAtAnyScale) {
  const Communicator world, self(MPI_COMM_SELF);
  for (const double scale : {1.0, 1e-200, 1e200}) {
    const Fields all = fields_of(self, scale);
    long double sum = 0, squares = 0, changes = 0;
    const auto now = testing::points_of(all.now, all.now.owned()),
               before = testing::points_of(all.before, all.before.owned());
    for (std::size_t i = 0; i < now.size(); ++i) {
      const long double value = now[i], change = value - before[i];
      sum += value, squares += value * value, changes += change * change;
    }
    const Fields own = fields_of(world, scale);
    const Diagnostics found = measure(world, shape, own.now, &own.before);
    EXPECT_EQ(found.min, *std::min_element(now.begin(), now.end()));
    EXPECT_EQ(found.max, *std::max_element(now.begin(), now.end()));
    // Squares are rounded one by one, sums exactly: a few units in the last place of the norm.
    EXPECT_NEAR(found.mean, static_cast<double>(sum / volume(shape)), 0x1p-52 * scale);
    EXPECT_NEAR(found.l2, static_cast<double>(std::sqrt(squares)), 4 * 0x1p-53 * found.l2);
    EXPECT_NEAR(found.change_l2, static_cast<double>(std::sqrt(changes)), 4 * 0x1p-53 * found.change_l2);
  }
}

TEST(Diagnostics, HaveTheSameBitsOnAnyNumberOfRanks) {
  const Communicator world, self(MPI_COMM_SELF);
  const Fields own = fields_of(world, 3.7), all = fields_of(self, 3.7);
  const Diagnostics found = measure(world, shape, own.now, &own.before),
                    alone = measure(self, shape, all.now, &all.before);
  EXPECT_EQ(found.mean, alone.mean);
  EXPECT_EQ(found.l2, alone.l2);
  EXPECT_EQ(found.change_l2, alone.change_l2);
}

TEST(Diagnostics, OfZeroAreZero) {
  const Communicator world;
  Fields own = fields_of(world, 0.0);
  const Diagnostics found = measure(world, shape, own.now, &own.before);
  EXPECT_EQ(found.l2, 0.0);
  EXPECT_EQ(found.change_l2, 0.0);
  EXPECT_EQ(found.mean, 0.0);
}

TEST(Diagnostics, FindTheFirstPointThatIsNotFinite) {
  const Communicator world;
  for (const double value :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Fields own = fields_of(world, 1.0);
    EXPECT_FALSE(first_not_finite(world, shape, own.now));
    for (const Index3& place : {Index3{6, 10, 28}, Index3{3, 0, 17}, Index3{3, 1, 2}}) {
      if (contains(own.now.owned(), {place, place + Index3{1, 1, 1}})) *own.now.at<double>(place) = value;
      const auto found = first_not_finite(world, shape, own.now);
      ASSERT_TRUE(found);
      EXPECT_EQ(*found, (place == Index3{3, 1, 2} ? Index3{3, 0, 17} : place));
    }
  }
}

}  // namespace
}  // namespace spsolve
