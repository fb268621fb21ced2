// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "plot/ticks.hpp"

namespace spsolve {
namespace {

std::vector<std::string> labels(double low, double high, int most) {
  std::vector<std::string> found;
  for (const Tick& tick : ticks_in(low, high, most)) found.push_back(tick.label);
  return found;
}

using ::testing::ElementsAre;

TEST(Ticks, AreRoundNumbers) {
  EXPECT_THAT(labels(0, 1, 6), ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1.0"));
  EXPECT_THAT(labels(-5, 2005, 5), ElementsAre("0", "500", "1000", "1500", "2000"));
  EXPECT_THAT(labels(-1.3, 1.3, 4), ElementsAre("-1", "0", "1"));
  EXPECT_THAT(labels(0.1, 0.3, 3), ElementsAre("0.1", "0.2", "0.3")) << "ends count in spite of rounding";
  EXPECT_THAT(labels(1.5e-9, 4.5e-9, 4), ElementsAre("2e-09", "3e-09", "4e-09"));
  EXPECT_THAT(labels(1e7, 1.2e7, 3), ElementsAre("1.0e+07", "1.1e+07", "1.2e+07"));
}

TEST(Ticks, OfASingleNumberIsThatNumber) {
  EXPECT_THAT(labels(0.25, 0.25, 5), ElementsAre("0.25"));
  EXPECT_THAT(labels(0, 0, 5), ElementsAre("0"));
  const double next = std::nextafter(1.0, 2.0);
  EXPECT_THAT(labels(1.0, next, 5), ElementsAre("1"));
  const double largest = std::numeric_limits<double>::max();
  EXPECT_EQ(labels(-largest, largest, 5).size(), 1u) << "the extent overflows";
  EXPECT_EQ(labels(0, 5e-324, 5).size(), 1u);
}

/// Whatever the ends are, ticks lie between them; there are at most as many as asked for and at least a fifth
/// of that, and their labels differ and read as their values.
TEST(Ticks, OfRandomEnds) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> mantissa(-1, 1), exponent(-200, 200);
  for (int i = 0; i < 20000; ++i) {
    const double center = mantissa(random) * std::pow(10.0, exponent(random) / (i % 2 ? 1 : 40));
    const double width = std::abs(center) * std::pow(10.0, -6 * std::abs(mantissa(random)));
    const double low = center - width, high = center + width;
    const int most = 2 + i % 8;
    const std::vector<Tick> ticks = ticks_in(low, high, most);
    ASSERT_LE(static_cast<int>(ticks.size()), most) << low << " " << high;
    ASSERT_GE(static_cast<int>(ticks.size()), std::max(1, most / 5)) << low << " " << high;
    std::set<std::string> labels;
    for (const Tick& tick : ticks) {
      EXPECT_GE(tick.value, low - 1e-9 * (high - low));
      EXPECT_LE(tick.value, high + 1e-9 * (high - low));
      if (ticks.size() > 1) {
        const double step = ticks[1].value - ticks[0].value;
        EXPECT_NEAR(std::stod(tick.label), tick.value, 0.01 * step) << tick.label;
      }
      labels.insert(tick.label);
    }
    EXPECT_EQ(labels.size(), ticks.size()) << low << " " << high;
  }
}

}  // namespace
}  // namespace spsolve
