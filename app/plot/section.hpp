// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>

#include "io/grid.hpp"
#include "io/input/images_config.hpp"
#include "plot/picture.hpp"

namespace spsolve {

/// Describes the points of a grid that a picture shows: a plane of a 3D grid, or a whole 2D or 1D grid. The
/// rows of the picture follow one another in C order.
struct Section {
  Grid grid;                                         // with one point along the axis across the plane
  std::array<std::string, 3> labels{"z", "y", "x"};  // names of the axes
  std::optional<int> across;                         // the axis across a plane
  double at = 0;                                     // the coordinate of the plane along that axis
  Box box;                                           // the points in the whole grid
  int vertical = y_axis, horizontal = x_axis;        // axes of the picture; the same for a curve

  bool is_curve() const { return vertical == horizontal; }
  std::int64_t rows() const { return is_curve() ? 1 : box.extent()[vertical]; }
  std::int64_t columns() const { return box.extent()[horizontal]; }
};

/// Returns the points of a picture of `grid`. In 3D they are the plane of points nearest to `plane`, by
/// default the middle one of z, or of the first axis with a single point. Throws Error(invalid_input) if the
/// grid is not 3D and a plane is given, or if the plane lies outside the grid.
Section section_of(const Grid& grid, const std::optional<ImagePlane>& plane);

/// Takes the values of a section and draws them. Memory does not depend on the size of the section.
class SectionPicture {
 public:
  explicit SectionPicture(const Section& section);

  /// Adds values from `first` on, the number of a point in C order of the section. Every value must be added
  /// once and in this order.
  void add(std::int64_t first, std::span<const double> values);
  /// Returns the least and the largest finite value, or {0, 0} if there are none.
  ColorRange extent() const { return curve_ ? curve_->extent() : raster_->extent(); }
  /// Returns the bytes of a PNG file. `name` is the name of the values.
  std::string encode(const std::string& name, const std::vector<std::string>& title, const ColorRange& range,
                     Colormap colormap) const;

 private:
  FigureAxis axis_of(int axis, double margin) const;

  Section section_;
  Size area_;
  std::optional<Raster> raster_;
  std::optional<Curve> curve_;
};

}  // namespace spsolve
