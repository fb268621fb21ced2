// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "plot/picture.hpp"

namespace spsolve {
namespace {

TEST(Bins, HoldEveryPlaceOnceInSizesThatDifferByOne) {
  for (std::int64_t count = 1; count < 60; ++count)
    for (int most = 1; most < 40; ++most) {
      const Bins groups(count, most);
      ASSERT_EQ(groups.groups, std::min<std::int64_t>(count, most));
      ASSERT_EQ(groups.begin(0), 0);
      ASSERT_EQ(groups.begin(groups.groups), count);
      for (std::int64_t place = 0; place < count; ++place) {
        const int group = groups.of(place);
        ASSERT_LE(groups.begin(group), place);
        ASSERT_GT(groups.begin(group + 1), place);
      }
      for (int group = 0; group < groups.groups; ++group) {
        const std::int64_t size = groups.begin(group + 1) - groups.begin(group);
        ASSERT_GE(size, count / groups.groups);
        ASSERT_LE(size, count / groups.groups + 1);
      }
    }
}

TEST(Raster, HasMeansOfBlocks) {
  // The 7 x 5 values lie in 3 x 2 cells and are given in pieces of rows.
  Raster raster(7, 5, 3, 2);
  const auto value = [](std::int64_t row, std::int64_t column) {
    return static_cast<double>(row * 10 + column);
  };
  for (std::int64_t row = 0; row < 7; ++row)
    for (const auto& [begin, end] : {std::pair{0, 1}, {1, 4}, {4, 5}}) {
      std::vector<double> piece;
      for (std::int64_t column = begin; column < end; ++column) piece.push_back(value(row, column));
      raster.add(row, begin, piece);
    }
  const Bins rows(7, 3), columns(5, 2);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 2; ++j) {
      double sum = 0, count = 0;
      for (std::int64_t row = rows.begin(i); row < rows.begin(i + 1); ++row)
        for (std::int64_t column = columns.begin(j); column < columns.begin(j + 1); ++column)
          sum += value(row, column), ++count;
      EXPECT_EQ(raster.at(i, j), sum / count);
    }
  EXPECT_EQ(raster.extent(), (ColorRange{0, 64})) << "of values, not of means";
  EXPECT_FALSE(raster.has_nan());
}

TEST(Raster, KeepsNaNInItsCell) {
  Raster raster(4, 4, 2, 2);
  const double nan = std::nan("");
  for (std::int64_t row = 0; row < 4; ++row)
    raster.add(row, 0,
               std::vector<double>{1, 2, row == 3 ? nan : 3.0, std::numeric_limits<double>::infinity()});
  EXPECT_TRUE(raster.has_nan());
  EXPECT_EQ(raster.at(1, 0), 1.5);
  EXPECT_TRUE(std::isinf(raster.at(0, 1)));
  EXPECT_TRUE(std::isnan(raster.at(1, 1)));
  EXPECT_EQ(raster.extent(), (ColorRange{1, 3})) << "of finite values";
}

TEST(Curve, HasExtremesOfGroups) {
  Curve curve(6, 3);
  curve.add(0, std::vector<double>{1, 5});
  curve.add(2, std::vector<double>{std::nan(""), -2, std::nan(""), std::nan("")});
  EXPECT_EQ(curve.places(), 3);
  EXPECT_EQ(curve.low(0), 1);
  EXPECT_EQ(curve.high(0), 5);
  EXPECT_EQ(curve.low(1), -2);
  EXPECT_EQ(curve.high(1), -2);
  EXPECT_FALSE(curve.has_values(2));
  EXPECT_EQ(curve.middle(0), 0.5);
  EXPECT_EQ(curve.extent(), (ColorRange{-2, 5}));
}

TEST(AreaOfMap, HasEqualScales) {
  EXPECT_EQ(area_of_map(4, 6, 0.1, 0.1), (Size{636, 424})) << "106 pixels per point";
  EXPECT_EQ(area_of_map(100, 100, 2, 2), (Size{500, 500}));
  EXPECT_EQ(area_of_map(10000, 10000, 1, 1), (Size{560, 560}));
  EXPECT_EQ(area_of_map(100, 100, 1, 2), (Size{640, 320}));
  EXPECT_EQ(area_of_map(1, 1000000, 1, 1), (Size{640, 32})) << "no side is too short to be seen";
  EXPECT_EQ(area_of_map(1000000, 1, 1, 1), (Size{32, 560}));
  EXPECT_EQ(area_of_map(1, 1, 3, 3), (Size{560, 560}));
}

TEST(Range, ReadsBackAsItself) {
  for (const ColorRange range : {ColorRange{0, 1}, {-1e-300, 0.1}, {1.0 / 3, 2e17}, {4, 4}})
    EXPECT_EQ(parse_range(range_text(range)), range);
  for (const char* text : {"", "1", "1 x", "2 1", "1 2 3", "nan 1"}) EXPECT_FALSE(parse_range(text)) << text;
  EXPECT_EQ(automatic_range({-1, 3}, Colormap::viridis), (ColorRange{-1, 3}));
  EXPECT_EQ(automatic_range({-1, 3}, Colormap::blue_red), (ColorRange{-3, 3}));
}

}  // namespace
}  // namespace spsolve
