// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "plot/chart.hpp"
#include "plot/figure.hpp"
#include "plot/picture.hpp"

namespace spsolve {
namespace {

/// Counts the pixels of a color in a rectangle of an image.
int count(const Image& image, int left, int top, int width, int height, Color color) {
  int found = 0;
  for (int y = top; y < top + height; ++y)
    for (int x = left; x < left + width; ++x) found += image.at(x, y) == color;
  return found;
}

TEST(Image, DrawsWithinItsEdges) {
  Image image(10, 8);
  image.fill(-5, -5, 100, 100, {1, 1, 1});
  EXPECT_EQ(count(image, 0, 0, 10, 8, {1, 1, 1}), 80);
  image.fill(8, 6, 5, 5, black);
  EXPECT_EQ(count(image, 0, 0, 10, 8, black), 4);
  image.line(-3, 2, 14, 2, 1, white);
  EXPECT_EQ(count(image, 0, 2, 10, 1, white), 10);
  image.text(6, 4, "Wide text", 3, white);
  image.text_upwards(2, 3, "Wide text", 3, white);
}

TEST(Image, TurnsTextUpwards) {
  Image across(40, 40), upwards(40, 40);
  across.text(1, 1, "Ly", 2);
  upwards.text_upwards(1, 38, "Ly", 2);
  for (int y = 0; y < 39; ++y)
    for (int x = 0; x < 39; ++x) ASSERT_EQ(across.at(x, y), upwards.at(y, 39 - x)) << x << " " << y;
}

TEST(Figure, PutsCoordinatesAtTheirPixels) {
  const Figure figure({100, 50}, {"x", -0.5, 9.5}, {"y", 0, 5}, {"title"}, 20, 0);
  EXPECT_EQ(figure.column_of(-0.5), figure.left());
  EXPECT_EQ(figure.column_of(0), figure.left() + 5);
  EXPECT_EQ(figure.column_of(9.5), figure.left() + 99);
  EXPECT_EQ(figure.line_of(0), figure.top() + 49);
  EXPECT_EQ(figure.line_of(5), figure.top()) << "the axis points up";
  EXPECT_EQ(figure.column_of(1e300), figure.left() + 99);
  EXPECT_EQ(figure.line_of(-1e300), figure.top() + 49);
}

TEST(Figure, GivesEqualRatiosEqualDistances) {
  const Figure figure({300, 200}, {"x", 1, 1000, true}, {"y", 0.01, 100, true}, {"title"}, 20, 0);
  EXPECT_EQ(figure.column_of(1), figure.left());
  EXPECT_EQ(figure.column_of(10.0001), figure.left() + 100);
  EXPECT_EQ(figure.column_of(100.001), figure.left() + 200);
  EXPECT_EQ(figure.line_of(1.00001), figure.top() + 199 - 100);
  EXPECT_EQ(figure.column_of(1e-300), figure.left());
}

TEST(Figure, LabelsPowersOfTenAndWhatLiesBetweenFewOfThem) {
  const auto labels = [](double low, double high) {
    std::string text;
    for (const Tick& tick : logarithmic_ticks(low, high)) text += tick.label + " ";
    return text;
  };
  EXPECT_EQ(labels(1.5, 120), "2 5 10 20 50 100 ");
  EXPECT_EQ(labels(0.5, 2e4), "1 10 100 1000 10000 ");
}

/// Returns the texts of a chart of one line from (1, 1) to (100, 10).
PngTexts chart_texts(bool marked) {
  const ChartLine line{"a line", chart_color(0), {{1, 1, "first"}, {100, 10, {}, true}}, marked};
  return texts_of_png(
      draw_chart({line}, {"x", 1, 1000, true}, {"y", 1, 1000, true}, {"a chart", "of one line"}));
}

TEST(Chart, NamesItsAreaAndTitle) {
  for (const bool marked : {false, true}) {
    const PngTexts texts = chart_texts(marked);
    EXPECT_EQ(texts.at("Title"), "a chart, of one line");
    EXPECT_NE(texts.at("area").find(" 720 480"), std::string::npos) << texts.at("area");
  }
}

/// The area is white and framed in black; axes, labels and title lie around it.
TEST(Figure, LeavesTheAreaFree) {
  for (const Size area : {Size{640, 560}, Size{32, 560}, Size{640, 32}, Size{32, 32}}) {
    Figure figure(area, {"x", -1e-7, 1e-6}, {"y", 1000, 123456}, {"a name", std::string(90, 'w'), "t = 1"},
                  60, 120);
    const Image& image = figure.image();
    EXPECT_EQ(count(image, figure.left(), figure.top(), area.width, area.height, white),
              area.width * area.height);
    EXPECT_EQ(count(image, figure.left() - 2, figure.top() - 2, area.width + 4, 2, black),
              2 * (area.width + 4));
    EXPECT_GT(count(image, 0, figure.top(), figure.left() - 2, area.height, black), 0);
    EXPECT_GT(count(image, 0, 0, image.width(), figure.top() - 2, black), 500);
    EXPECT_GT(count(image, 0, figure.top() + area.height + 2, image.width(),
                    image.height() - figure.top() - area.height - 2, black),
              10);
    EXPECT_GE(image.width(), text_width(std::string(90, 'w'), Figure::text_scale)) << "the title is whole";
  }
}

TEST(Figure, LabelsDoNotOverlap) {
  for (const auto& [low, high] : {std::pair{0.0, 1.0}, {1e-7, 3e-7}, {-123456.0, 99999.0}, {1e9, 1.0001e9}})
    for (int pixels = 32; pixels < 700; pixels += 30) {
      const auto ticks = ticks_for(low, high, pixels, false);
      ASSERT_FALSE(ticks.empty());
      if (ticks.size() <= 2) continue;  // the fewest
      int widest = 0;
      for (const Tick& tick : ticks) widest = std::max(widest, text_width(tick.label, Figure::text_scale));
      EXPECT_GT((ticks[1].value - ticks[0].value) / (high - low) * pixels, widest) << low << " " << pixels;
    }
}

TEST(Picture, OfNoiseIsNoLargerThanTheBoundOfItsFile) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> between(0, 1);
  Raster raster(max_area.height, max_area.width, max_area.height, max_area.width);
  for (int row = 0; row < max_area.height; ++row) {
    std::vector<double> values(static_cast<std::size_t>(max_area.width));
    std::ranges::generate(values, [&] { return between(random); });
    raster.add(row, 0, values);
  }
  const std::string file = draw_map(raster, max_area, {{"x", 0, 1}, {"y", 0, 1}, {"noise"}, {0, 1}});
  EXPECT_LE(std::ssize(file), max_picture_bytes);
  EXPECT_GE(std::ssize(file), max_picture_bytes / 3);
}

}  // namespace
}  // namespace spsolve
