// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "plot/image.hpp"
#include "plot/png.hpp"
#include "plot/ticks.hpp"

namespace spsolve {

/// Describes one axis of a figure: its name and the coordinates at the two edges of the area. On a
/// logarithmic axis coordinates are above 0, and equal ratios have equal distances.
struct FigureAxis {
  std::string label;
  double low = 0, high = 1;
  bool logarithmic = false;
};

/// Holds width and height in pixels.
struct Size {
  int width = 0, height = 0;

  friend bool operator==(const Size&, const Size&) = default;
};

/// Draws the surroundings of the area of a figure: title, frame, axes with ticks at round numbers, and empty
/// space at the right. Others draw into the area. The vertical axis points up.
class Figure {
 public:
  /// `title` has parts that are joined by commas, in as many lines as they need. `right` and `min_height`
  /// are the size of the space beside the area.
  Figure(Size area, const FigureAxis& horizontal, const FigureAxis& vertical,
         const std::vector<std::string>& title, int right, int min_height);

  /// Is the size of text: pixels per dot of the font.
  static constexpr int text_scale = 2;
  /// Is the distance in pixels between neighbouring parts of a figure.
  static constexpr int gap = 8;

  Image& image() { return image_; }
  int left() const { return left_; }
  int top() const { return top_; }
  const Size& area() const { return area_; }
  /// Returns the pixel of a coordinate: a column, or a line, of the image.
  int column_of(double x) const;
  int line_of(double y) const;
  /// Returns the file, with the texts "Title", and "area": left, top, width and height of the area in pixels.
  std::string encode(PngTexts texts) const;

 private:
  void draw_title(const std::vector<std::string>& lines);
  void draw_axes(const std::vector<Tick>& along_x, const std::vector<Tick>& along_y);

  Size area_;
  FigureAxis horizontal_, vertical_;
  std::string title_;
  int left_ = 0, top_ = 0;
  Image image_;
};

/// Returns the ticks of a logarithmic axis from `low` to `high`: powers of ten, and between them 2 and 5
/// times these where there are few.
std::vector<Tick> logarithmic_ticks(double low, double high);

/// Returns ticks of an axis as near to each other as `pixels` allow for labels that stand above each other
/// (`upright`) or side by side.
std::vector<Tick> ticks_for(double low, double high, int pixels, bool upright);
/// Returns the width in pixels of the longest label.
int label_width(const std::vector<Tick>& ticks);

}  // namespace spsolve
