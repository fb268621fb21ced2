// SPDX-License-Identifier: Apache-2.0
#include "plot/image.hpp"

#include <algorithm>
#include <cstdlib>

#include "plot/font.hpp"

namespace spsolve {
namespace {

constexpr int advance = glyph_width + 1;

/// Calls dot(x, y) for every dot of a text, in dots from its upper left corner.
template <class Dot>
void for_each_dot(std::string_view text, Dot&& dot) {
  for (int i = 0; i < static_cast<int>(text.size()); ++i)
    for (int y = 0; y < glyph_height; ++y)
      for (int x = 0; x < glyph_width; ++x)
        if (has_ink(text[static_cast<std::size_t>(i)], x, y)) dot(i * advance + x, y);
}

}  // namespace

void Image::fill(int left, int top, int width, int height, Color color) {
  for (int y = std::max(top, 0); y < std::min(top + height, height_); ++y)
    for (int x = std::max(left, 0); x < std::min(left + width, width_); ++x) pixels_[index(x, y)] = color;
}

void Image::frame(int left, int top, int width, int height, int thick, Color color) {
  fill(left, top, width, thick, color);
  fill(left, top + height - thick, width, thick, color);
  fill(left, top, thick, height, color);
  fill(left + width - thick, top, thick, height, color);
}

void Image::line(int x, int y, int to_x, int to_y, int thick, Color color) {
  const int steps = std::max({std::abs(to_x - x), std::abs(to_y - y), 1});
  // Only integers are used, so that every machine draws the same pixels.
  const auto between = [steps](int from, int to, int i) {
    const int doubled = 2 * i * std::abs(to - from) + steps;
    return from + (to < from ? -1 : 1) * (doubled / (2 * steps));
  };
  for (int i = 0; i <= steps; ++i)
    fill(between(x, to_x, i) - (thick - 1) / 2, between(y, to_y, i) - (thick - 1) / 2, thick, thick, color);
}

void Image::text(int left, int top, std::string_view text, int scale, Color color) {
  for_each_dot(text, [&](int x, int y) { fill(left + scale * x, top + scale * y, scale, scale, color); });
}

void Image::text_upwards(int left, int bottom, std::string_view text, int scale, Color color) {
  for_each_dot(
      text, [&](int x, int y) { fill(left + scale * y, bottom - scale * (x + 1) + 1, scale, scale, color); });
}

int text_width(std::string_view text, int scale) {
  return text.empty() ? 0 : scale * (advance * static_cast<int>(text.size()) - 1);
}

int text_height(int scale) { return scale * glyph_baseline; }

}  // namespace spsolve
