// SPDX-License-Identifier: Apache-2.0
#include "plot/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "plot/chart.hpp"

namespace spsolve {
namespace {

constexpr int scale = Figure::text_scale, gap = 8, min_side = 32, bar_width = 24, min_bar = 120,
              bar_margin = 20;
constexpr Size curve_area{640, 400};

void draw_color_bar(Image& image, int left, int top, int height, const MapStyle& style,
                    const std::vector<Tick>& ticks) {
  const ColorRange& range = style.range;
  image.frame(left - 2, top - 2, bar_width + 4, height + 4, 2, black);
  for (int y = 0; y < height; ++y) {
    const double share = (height - 1 - y) / static_cast<double>(height - 1);
    const double value = range.low * (1 - share) + range.high * share;
    image.fill(left, top + y, bar_width, 1, color_of(style.colormap, range, value));
  }
  for (const Tick& tick : ticks) {
    const double share = range.low == range.high ? 0.5 : (tick.value - range.low) / (range.high - range.low);
    const int y =
        top + height - 1 - static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * (height - 1)));
    image.fill(left + bar_width + 2, y - 1, 6, 2, black);
    image.text(left + bar_width + 12, y - text_height(scale) / 2, tick.label, scale);
  }
}

/// Draws the places of a curve from left to right: to the nearer extreme of each group, then to the other.
void draw_curve(Figure& figure, const NamedCurve& named, Color color) {
  const Curve& curve = named.curve;
  int last_x = 0, last_y = 0;
  double last = 0;
  bool connected = false;
  for (int place = 0; place < curve.places(); ++place) {
    if (!curve.has_values(place)) {
      connected = false;
      continue;
    }
    const int x = figure.column_of(named.first + curve.middle(place) * named.spacing);
    double near = curve.low(place), far = curve.high(place);
    if (connected && std::abs(far - last) < std::abs(near - last)) std::swap(near, far);
    const int y = figure.line_of(near), end = figure.line_of(far);
    if (!connected) last_x = x, last_y = y;
    figure.image().line(last_x, last_y, x, y, 2, color);
    figure.image().line(x, y, x, end, 2, color);
    last_x = x, last_y = end, last = far;
    connected = true;
  }
}

/// Returns a range with some space beyond the curves.
ColorRange widened(const ColorRange& range) {
  const double half = range.high / 2 - range.low / 2;
  const double space = half > 0 ? 0.1 * half : range.low != 0 ? 0.5 * std::abs(range.low) : 1.0;
  return {range.low - space, range.high + space};
}

}  // namespace

Size area_of_map(std::int64_t rows, std::int64_t columns, double row_spacing, double column_spacing) {
  const double width = static_cast<double>(columns) * std::abs(column_spacing);
  const double height = static_cast<double>(rows) * std::abs(row_spacing);
  double pixels = std::min(max_area.width / width, max_area.height / height);  // per unit of length
  const double of_point = pixels * std::abs(column_spacing);
  if (row_spacing == column_spacing && of_point >= 1)
    pixels = std::floor(of_point) / std::abs(column_spacing);
  const auto side = [](double length, int most) {
    return std::clamp(static_cast<int>(std::lround(std::min<double>(length, most))), min_side, most);
  };
  return {side(width * pixels, max_area.width), side(height * pixels, max_area.height)};
}

ColorRange automatic_range(const ColorRange& extent, Colormap colormap) {
  if (colormap != Colormap::blue_red) return extent;
  const double largest = std::max(std::abs(extent.low), std::abs(extent.high));
  return {-largest, largest};
}

std::string draw_map(const Raster& raster, Size area, const MapStyle& style) {
  const int height = std::max(area.height, min_bar);
  const int for_nan = raster.has_nan() ? text_height(scale) + 3 * gap : 0;
  const auto ticks = ticks_for(style.range.low, style.range.high, height - for_nan, true);
  const int labels = std::max(label_width(ticks), text_width("NaN", scale));
  Figure figure(area, style.horizontal, style.vertical, style.title,
                2 * bar_margin + bar_width + 12 + labels + gap, height + gap);
  Image& image = figure.image();
  for (int y = 0; y < area.height; ++y) {
    const int row = static_cast<int>(std::int64_t{area.height - 1 - y} * raster.rows() / area.height);
    for (int x = 0; x < area.width; ++x) {
      const int column = static_cast<int>(std::int64_t{x} * raster.columns() / area.width);
      image.set(figure.left() + x, figure.top() + y,
                color_of(style.colormap, style.range, raster.at(row, column)));
    }
  }
  const int left = figure.left() + area.width + bar_margin + 2;
  draw_color_bar(image, left, figure.top(), height - for_nan, style, ticks);
  if (for_nan > 0) {
    const int side = text_height(scale), top = figure.top() + height - side;
    image.fill(left, top, bar_width, side, nan_color);
    image.text(left + bar_width + 12, top, "NaN", scale);
  }
  return figure.encode({{"range", range_text(style.range)}});
}

std::string draw_curves(const std::vector<NamedCurve>& curves, const FigureAxis& horizontal,
                        const std::string& vertical_label, const std::vector<std::string>& title,
                        const ColorRange& range) {
  const ColorRange shown = widened(range);
  int legend = 0;
  for (const NamedCurve& curve : curves) legend = std::max(legend, text_width(curve.name, scale));
  FigureAxis along = horizontal;
  if (along.low == along.high) along.low -= 0.5, along.high += 0.5;
  const int line = scale * 11;
  Figure figure(curve_area, along, {vertical_label, shown.low, shown.high}, title,
                2 * gap + (legend > 0 ? bar_width + gap + legend + gap : 0),
                legend > 0 ? static_cast<int>(curves.size()) * line : 0);
  int top = figure.top();
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const Color color = chart_color(i);
    draw_curve(figure, curves[i], color);
    if (curves[i].name.empty()) continue;
    const int left = figure.left() + figure.area().width + 2 * gap;
    figure.image().fill(left, top + text_height(scale) / 2 - 2, bar_width, 4, color);
    figure.image().text(left + bar_width + gap, top, curves[i].name, scale);
    top += line;
  }
  return figure.encode({{"range", range_text(range)}});
}

std::string range_text(const ColorRange& range) { return fmt::format("{} {}", range.low, range.high); }

std::optional<ColorRange> parse_range(const std::string& text) {
  char* end = nullptr;
  const char* const begin = text.c_str();
  const double low = std::strtod(begin, &end);
  if (end == begin) return std::nullopt;
  const char* const second = end;
  const double high = std::strtod(second, &end);
  if (end == second || *end != '\0' || !(low <= high)) return std::nullopt;
  return ColorRange{low, high};
}

}  // namespace spsolve
