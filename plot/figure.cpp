// SPDX-License-Identifier: Apache-2.0
#include "plot/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace spsolve {
namespace {

constexpr int scale = Figure::text_scale, tick_length = 6, thick = 2, min_ticks = 2, max_ticks = 8,
              widest_title = 1600;

/// Returns a text with one character of the font for each character of UTF-8.
std::string drawable(const std::string& text) {
  std::string result;
  for (const char c : text)
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) result += c;
  return result;
}

/// Joins the parts of a title to lines of at most `width` pixels, as far as single parts fit.
std::vector<std::string> title_lines(const std::vector<std::string>& parts, int width) {
  std::vector<std::string> lines;
  for (const std::string& part : parts) {
    const std::string longer = lines.empty() ? part : lines.back() + ", " + part;
    if (lines.empty() || text_width(drawable(longer), scale) > width)
      lines.push_back(part);
    else
      lines.back() = longer;
  }
  return lines;
}

/// Returns the place of a coordinate on an axis: 0 at its low end and 1 at its high end.
double share_of(const FigureAxis& axis, double value) {
  if (axis.low == axis.high) return 0.5;
  if (axis.logarithmic) return std::log(value / axis.low) / std::log(axis.high / axis.low);
  return (value - axis.low) / (axis.high - axis.low);
}

std::vector<Tick> ticks_of(const FigureAxis& axis, int pixels, bool upright) {
  return axis.logarithmic ? logarithmic_ticks(axis.low, axis.high)
                          : ticks_for(axis.low, axis.high, pixels, upright);
}

/// Returns the pixel, 0 to count - 1, of a coordinate between the edges of an axis.
int pixel_of(const FigureAxis& axis, double value, int count) {
  const double share = share_of(axis, value);
  return static_cast<int>(std::clamp(std::floor(share * count), 0.0, count - 1.0));
}

}  // namespace

int label_width(const std::vector<Tick>& ticks) {
  int width = 0;
  for (const Tick& tick : ticks) width = std::max(width, text_width(tick.label, scale));
  return width;
}

std::vector<Tick> ticks_for(double low, double high, int pixels, bool upright) {
  for (int most = max_ticks; most > min_ticks; --most) {
    std::vector<Tick> ticks = ticks_in(low, high, most);
    const int needed = upright ? 2 * text_height(scale) : label_width(ticks) + 2 * Figure::gap;
    const double distance =
        ticks.size() > 1 ? (ticks[1].value - ticks[0].value) / (high - low) * pixels : 1e9;
    if (distance >= needed) return ticks;
  }
  return ticks_in(low, high, min_ticks);
}

std::vector<Tick> logarithmic_ticks(double low, double high) {
  constexpr double few_decades = 3;
  const bool between = std::log10(high / low) < few_decades;
  std::vector<Tick> ticks;
  for (int power = static_cast<int>(std::floor(std::log10(low))); std::pow(10.0, power) <= high; ++power)
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10.0, power);
      if ((factor == 1 || between) && value >= low && value <= high)
        ticks.push_back({value, short_number(value)});
    }
  return ticks;
}

Figure::Figure(Size area, const FigureAxis& horizontal, const FigureAxis& vertical,
               const std::vector<std::string>& title, int right, int min_height)
    : area_(area), horizontal_(horizontal), vertical_(vertical), image_(1, 1) {
  const std::vector<Tick> along_x = ticks_of(horizontal, area.width, false);
  const std::vector<Tick> along_y = ticks_of(vertical, area.height, true);
  const int letter = text_height(scale), line = scale * 11;
  left_ = gap + letter + 2 * gap + std::max(label_width(along_y), 30) + gap + tick_length + thick;
  int width = left_ + area.width + std::max(right, label_width(along_x) / 2 + gap);
  const auto lines = title_lines(title, std::max(width - 2 * gap, 480));
  for (const std::string& text : lines)
    width = std::max(width, std::min(text_width(drawable(text), scale) + 2 * gap, widest_title));
  for (const std::string& text : lines) title_ += (title_.empty() ? "" : ", ") + text;
  top_ = gap + line * static_cast<int>(lines.size()) + gap + thick;
  const int below = thick + tick_length + gap + letter + gap + letter + gap + 2 * scale;
  image_ = Image(width, top_ + std::max(area.height + below, min_height + gap));
  draw_title(lines);
  draw_axes(along_x, along_y);
}

void Figure::draw_title(const std::vector<std::string>& lines) {
  int top = gap;
  for (const std::string& line : lines) {
    image_.text(gap, top, drawable(line), scale);
    top += scale * 11;
  }
}

void Figure::draw_axes(const std::vector<Tick>& along_x, const std::vector<Tick>& along_y) {
  image_.frame(left_ - thick, top_ - thick, area_.width + 2 * thick, area_.height + 2 * thick, thick, black);
  const int bottom = top_ + area_.height + thick, letter = text_height(scale);
  for (const Tick& tick : along_x) {
    const int x = column_of(tick.value);
    image_.fill(x - thick / 2, bottom, thick, tick_length, black);
    image_.text(x - text_width(tick.label, scale) / 2, bottom + tick_length + gap / 2, tick.label, scale);
  }
  for (const Tick& tick : along_y) {
    const int y = line_of(tick.value), end = left_ - thick - tick_length;
    image_.fill(end, y - thick / 2, tick_length, thick, black);
    image_.text(end - gap / 2 - text_width(tick.label, scale), y - letter / 2, tick.label, scale);
  }
  image_.text(left_ + (area_.width - text_width(horizontal_.label, scale)) / 2,
              bottom + tick_length + gap + letter + gap / 2, horizontal_.label, scale);
  image_.text_upwards(gap, top_ + (area_.height + text_width(vertical_.label, scale)) / 2, vertical_.label,
                      scale);
}

int Figure::column_of(double x) const { return left_ + pixel_of(horizontal_, x, area_.width); }

int Figure::line_of(double y) const { return top_ + area_.height - 1 - pixel_of(vertical_, y, area_.height); }

std::string Figure::encode(PngTexts texts) const {
  texts["Title"] = title_;
  texts["area"] = fmt::format("{} {} {} {}", left_, top_, area_.width, area_.height);
  return encode_png(image_, texts);
}

}  // namespace spsolve
