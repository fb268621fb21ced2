// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace spsolve {

struct Color {
  std::uint8_t red = 0, green = 0, blue = 0;

  friend bool operator==(const Color&, const Color&) = default;
};

constexpr Color black{0, 0, 0}, white{255, 255, 255}, grey{160, 160, 160};

/// Holds colored pixels in rows from the top, x from the left. Drawing beyond the edges has no effect.
class Image {
 public:
  Image(int width, int height, Color background = white)
      : width_(width), height_(height), pixels_(static_cast<std::size_t>(width) * height, background) {}

  int width() const { return width_; }
  int height() const { return height_; }
  const Color& at(int x, int y) const { return pixels_[index(x, y)]; }
  const Color* row(int y) const { return &pixels_[index(0, y)]; }
  void set(int x, int y, Color color) {
    if (x >= 0 && x < width_ && y >= 0 && y < height_) pixels_[index(x, y)] = color;
  }

  /// Fills the columns [left, left + width) of the lines [top, top + height).
  void fill(int left, int top, int width, int height, Color color);
  /// Draws the frame of that rectangle, `thick` pixels wide and inside it.
  void frame(int left, int top, int width, int height, int thick, Color color);
  /// Draws a straight line of `thick` pixels between two pixels.
  void line(int x, int y, int to_x, int to_y, int thick, Color color);
  /// Writes from left to right; (left, top) is the upper left pixel. A dot of the font has scale x scale
  /// pixels.
  void text(int left, int top, std::string_view text, int scale, Color color = black);
  /// Writes upwards; (left, bottom) is the lower left pixel.
  void text_upwards(int left, int bottom, std::string_view text, int scale, Color color = black);

 private:
  std::size_t index(int x, int y) const { return static_cast<std::size_t>(y) * width_ + x; }

  int width_, height_;
  std::vector<Color> pixels_;
};

/// Return the size of a text in pixels. The height is that without descenders.
int text_width(std::string_view text, int scale);
int text_height(int scale);

}  // namespace spsolve
