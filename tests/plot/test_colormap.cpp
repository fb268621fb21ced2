// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "plot/colormap.hpp"

namespace spsolve {
namespace {

/// Returns the lightness L* of CIELAB, 0 to 100, of an sRGB color (IEC 61966-2-1).
double lightness(const Color& color) {
  const auto linear = [](std::uint8_t channel) {
    const double c = channel / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  const double y = 0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue);
  return y > 216.0 / 24389 ? 116 * std::cbrt(y) - 16 : y * 24389 / 27;
}

TEST(Colormap, HasThePublishedColors) {
  const ColorRange range{-1, 3};
  EXPECT_EQ(color_of(Colormap::viridis, range, -1), (Color{0x44, 0x01, 0x54}));
  EXPECT_EQ(color_of(Colormap::viridis, range, 3), (Color{0xfd, 0xe7, 0x25}));
  EXPECT_EQ(color_of(Colormap::magma, range, -1), (Color{0x00, 0x00, 0x04}));
  EXPECT_EQ(color_of(Colormap::magma, range, 3), (Color{0xfc, 0xfd, 0xbf}));
  // This is entry 90 of the 256 published ones.
  EXPECT_EQ(color_of(Colormap::viridis, {0, 255}, 90), (Color{0x2e, 0x6d, 0x8e}));
  EXPECT_EQ(color_of(Colormap::magma, {0, 255}, 90), (Color{0x79, 0x22, 0x82}));
}

TEST(Colormap, TakesValuesBeyondTheRangeAndNaN) {
  const ColorRange range{1, 2};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const Colormap map : {Colormap::viridis, Colormap::magma, Colormap::blue_red}) {
    EXPECT_EQ(color_of(map, range, -infinity), color_of(map, range, 1));
    EXPECT_EQ(color_of(map, range, infinity), color_of(map, range, 2));
    EXPECT_EQ(color_of(map, range, std::nan("")), nan_color);
    EXPECT_EQ(color_of(map, {5, 5}, 5), color_of(map, {0, 2}, 1)) << "a single value takes the middle";
    EXPECT_EQ(color_of(map, {5, 5}, 4), color_of(map, {0, 2}, 0));
    const double largest = std::numeric_limits<double>::max();
    EXPECT_EQ(color_of(map, {-largest, largest}, 0), color_of(map, {0, 2}, 1));
  }
}

/// Lightness grows evenly along the sequential maps and falls evenly on both sides of the diverging one: no
/// hundredth of a map changes it by more than three times the mean.
TEST(Colormap, IsEvenInLightness) {
  for (const Colormap map : {Colormap::viridis, Colormap::magma, Colormap::blue_red}) {
    const ColorRange range{0, 100};
    const bool diverging = map == Colormap::blue_red;
    const double whole = diverging
                             ? 2 * (lightness(color_of(map, range, 50)) - lightness(color_of(map, range, 0)))
                             : lightness(color_of(map, range, 100)) - lightness(color_of(map, range, 0));
    ASSERT_GT(whole, 70);
    for (int i = 0; i < 100; ++i) {
      double change = lightness(color_of(map, range, i + 1)) - lightness(color_of(map, range, i));
      if (diverging && i >= 50) change = -change;
      EXPECT_GT(change, 0) << to_string(map) << " " << i;
      EXPECT_LT(change, 3 * whole / 100) << to_string(map) << " " << i;
    }
  }
}

TEST(Colormap, HasNames) {
  for (const std::string_view name : colormap_names) EXPECT_EQ(to_string(*parse_colormap(name)), name);
  EXPECT_FALSE(parse_colormap("jet"));
}

}  // namespace
}  // namespace spsolve
