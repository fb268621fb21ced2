// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "plot/figure.hpp"

namespace spsolve {

/// Describes a point of a chart, with a label below its marker or, without markers, above it at the left
/// (empty: none).
struct ChartPoint {
  double x = 0, y = 0;
  std::string label = {};
  bool filled = false;  // its marker is a full square instead of a frame
};

/// Holds points that are joined by straight lines, with a name for the legend (empty: none). `marked`: each
/// point has a marker.
struct ChartLine {
  std::string name = {};
  Color color = {};
  std::vector<ChartPoint> points = {};
  bool marked = false;
};

/// Returns one of several colors that can be told apart, repeated after the last.
Color chart_color(std::size_t number);

/// Draws lines on common axes and returns the bytes of a PNG file with the texts "Title" and "area"
/// (Figure::encode). Points beyond the axes are drawn at their ends.
std::string draw_chart(const std::vector<ChartLine>& lines, const FigureAxis& horizontal,
                       const FigureAxis& vertical, const std::vector<std::string>& title);

}  // namespace spsolve
