// SPDX-License-Identifier: Apache-2.0
#include "plot/chart.hpp"

#include <algorithm>
#include <array>

namespace spsolve {
namespace {

constexpr int key_width = 24, marker = 9, label_scale = 1;
constexpr Size chart_area{720, 480};

void draw_marker(Image& image, int x, int y, bool filled, Color color) {
  const int left = x - marker / 2, top = y - marker / 2;
  image.fill(left, top, marker, marker, filled ? color : white);
  image.frame(left, top, marker, marker, 2, color);
}

void draw_line(Figure& figure, const ChartLine& line) {
  Image& image = figure.image();
  for (std::size_t i = 1; i < line.points.size(); ++i)
    image.line(figure.column_of(line.points[i - 1].x), figure.line_of(line.points[i - 1].y),
               figure.column_of(line.points[i].x), figure.line_of(line.points[i].y), 2, line.color);
  for (const ChartPoint& point : line.points) {
    const int x = figure.column_of(point.x), y = figure.line_of(point.y);
    if (line.marked) draw_marker(image, x, y, point.filled, line.color);
    if (point.label.empty()) continue;
    const int width = text_width(point.label, label_scale);
    if (line.marked)
      image.text(x - width / 2, y + marker / 2 + 3, point.label, label_scale, line.color);
    else
      image.text(x - width, y - text_height(label_scale) - 4, point.label, label_scale, line.color);
  }
}

}  // namespace

Color chart_color(std::size_t number) {
  constexpr std::array<Color, 8> colors{{{31, 90, 180},
                                         {214, 90, 20},
                                         {30, 140, 60},
                                         {190, 30, 60},
                                         {120, 80, 170},
                                         {130, 90, 60},
                                         {210, 100, 170},
                                         {90, 90, 90}}};
  return colors[number % colors.size()];
}

std::string draw_chart(const std::vector<ChartLine>& lines, const FigureAxis& horizontal,
                       const FigureAxis& vertical, const std::vector<std::string>& title) {
  constexpr int line_height = Figure::text_scale * 11;
  int widest = 0, named = 0;
  for (const ChartLine& line : lines) {
    widest = std::max(widest, text_width(line.name, Figure::text_scale));
    named += !line.name.empty();
  }
  Figure figure(chart_area, horizontal, vertical, title,
                2 * Figure::gap + key_width + Figure::gap + widest + Figure::gap, named * line_height);
  int top = figure.top();
  for (const ChartLine& line : lines) {
    draw_line(figure, line);
    if (line.name.empty()) continue;
    const int left = figure.left() + figure.area().width + 2 * Figure::gap,
              middle = top + text_height(Figure::text_scale) / 2;
    figure.image().fill(left, middle - 1, key_width, 3, line.color);
    if (line.marked) draw_marker(figure.image(), left + key_width / 2, middle, false, line.color);
    figure.image().text(left + key_width + Figure::gap, top, line.name, Figure::text_scale);
    top += line_height;
  }
  return figure.encode({});
}

}  // namespace spsolve
