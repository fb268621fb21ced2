// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plot/figure.hpp"
#include "plot/raster.hpp"

namespace spsolve {

/// Limits the area of a picture. Larger arrays are reduced to it.
constexpr Size max_area{640, 560};
/// Bounds the bytes of a file: three for every pixel of the area, which noise can take, and room for what
/// surrounds it, which compression shrinks.
constexpr std::int64_t max_picture_bytes = std::int64_t{3} * max_area.width * max_area.height + (64 << 10);

/// Returns the area for an array of points with these distances between rows and between columns, with equal
/// scales along both axes. If the distances are equal and the array fits, each point becomes a square of
/// whole pixels. A side is never shorter than 32 pixels, so strips are drawn wider than they are.
Size area_of_map(std::int64_t rows, std::int64_t columns, double row_spacing, double column_spacing);

/// Returns the range that shows all values. For a diverging map its middle is 0.
ColorRange automatic_range(const ColorRange& extent, Colormap colormap);

/// Describes how a picture is labelled and colored.
struct MapStyle {
  FigureAxis horizontal, vertical;  // edges of the area: half a spacing beyond the outermost points
  std::vector<std::string> title;   // parts
  ColorRange range;
  Colormap colormap = Colormap::viridis;
};

/// Draws an array, the first row at the bottom, with a color bar, and returns the bytes of a PNG file. It has
/// the texts "Title", "area" (Figure::encode) and "range" (range_text()).
std::string draw_map(const Raster& raster, Size area, const MapStyle& style);

/// Holds a curve, its name for the legend (empty: none) and the coordinates of its points.
struct NamedCurve {
  Curve curve;
  std::string name;
  double first = 0, spacing = 1;
};

/// Draws curves on common axes, and returns the bytes of a PNG file with the texts of draw_map(). The
/// vertical axis shows `range`; if its ends are equal, some space around it.
std::string draw_curves(const std::vector<NamedCurve>& curves, const FigureAxis& horizontal,
                        const std::string& vertical_label, const std::vector<std::string>& title,
                        const ColorRange& range);

/// Returns a range as text, "low high", that reads back as the same numbers. Text of another kind reads as
/// nothing.
std::string range_text(const ColorRange& range);
std::optional<ColorRange> parse_range(const std::string& text);

}  // namespace spsolve
