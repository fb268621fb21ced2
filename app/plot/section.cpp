// SPDX-License-Identifier: Apache-2.0
#include "app/plot/section.hpp"

#include <algorithm>

#include "io/input/read_images.hpp"

namespace spsolve {
Section section_of(const Grid& grid, const std::optional<ImagePlane>& plane) {
  const Index3& shape = grid.domain.shape;
  Section section;
  section.grid = grid;
  section.box = box_of(shape);
  if (plane) nearest_point(grid, *plane);  // throws unless the grid is 3D
  if (grid.domain.dimensions < 3) {
    if (grid.domain.dimensions == 1) section.vertical = x_axis;
    return section;
  }
  const auto single = std::ranges::find(shape, 1);
  const int axis = plane                   ? plane->axis
                   : single != shape.end() ? static_cast<int>(single - shape.begin())
                                           : z_axis;
  const std::int64_t point = plane ? nearest_point(grid, *plane) : shape[axis] / 2;
  section.across = axis;
  section.at = grid.coordinate(axis, point);
  section.box.begin[axis] = point;
  section.box.end[axis] = point + 1;
  section.vertical = axis == z_axis ? y_axis : z_axis;
  section.horizontal = axis == x_axis ? y_axis : x_axis;
  return section;
}

SectionPicture::SectionPicture(const Section& section) : section_(section) {
  if (section.is_curve()) {
    curve_.emplace(section.columns(), max_area.width);
    return;
  }
  area_ = area_of_map(section.rows(), section.columns(), section.grid.spacing[section.vertical],
                      section.grid.spacing[section.horizontal]);
  raster_.emplace(section.rows(), section.columns(), area_.height, area_.width);
}

void SectionPicture::add(std::int64_t first, std::span<const double> values) {
  if (curve_) return curve_->add(first, values);
  const std::int64_t columns = section_.columns();
  while (!values.empty()) {
    const std::int64_t column = first % columns;
    const auto count = std::min(values.size(), static_cast<std::size_t>(columns - column));
    raster_->add(first / columns, column, values.first(count));
    values = values.subspan(count);
    first += static_cast<std::int64_t>(count);
  }
}

FigureAxis SectionPicture::axis_of(int axis, double margin) const {
  const double first = section_.grid.origin[axis], spacing = section_.grid.spacing[axis];
  const double last = first + spacing * static_cast<double>(section_.box.extent()[axis] - 1);
  return {section_.labels[axis], first - margin * spacing, last + margin * spacing};
}

std::string SectionPicture::encode(const std::string& name, const std::vector<std::string>& title,
                                   const ColorRange& range, Colormap colormap) const {
  const int axis = section_.horizontal;
  if (curve_)
    return draw_curves({{*curve_, "", section_.grid.origin[axis], section_.grid.spacing[axis]}},
                       axis_of(axis, 0), name, title, range);
  return draw_map(*raster_, area_,
                  {axis_of(axis, 0.5), axis_of(section_.vertical, 0.5), title, range, colormap});
}

}  // namespace spsolve
