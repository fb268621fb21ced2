// SPDX-License-Identifier: Apache-2.0
#include "io/input/read_images.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/input/read_problem.hpp"
#include "io/numbered_name.hpp"

namespace spsolve {
namespace {

std::string read_name(const TomlSection& section, const std::vector<ImagesConfig>& others) {
  const std::string name = *section.text("name");
  if (!is_result_name(name) || name == "snapshot" || name == "checkpoint")
    section.fail("name", fmt::format("'name' is '{}'; wanted letters, digits, '_' and '-', and neither "
                                     "'snapshot' nor 'checkpoint', which other files are called",
                                     name));
  if (std::ranges::find(others, name, &ImagesConfig::name) != others.end())
    section.fail("name", fmt::format("there are images with the name '{}' already", name));
  return name;
}

std::optional<ImagePlane> read_plane(const TomlSection& section, const Grid& grid) {
  if (!section.has("plane")) return {};
  const std::optional<TomlSection> given = section.section("plane");
  given->allow();
  const std::string name = given->exactly_one_of({axis_names.begin(), axis_names.end()});
  const ImagePlane plane{static_cast<int>(std::ranges::find(axis_names, name) - axis_names.begin()),
                         *given->number(name)};
  try {
    nearest_point(grid, plane);
  } catch (const Error& error) {
    section.fail("plane", fmt::format("'plane': {}", error.what()));
  }
  return plane;
}

void read_range(const TomlSection& section, ImagesConfig& images) {
  if (!section.has("range")) return;
  if (section.find("range")->is_string()) {
    images.scale = *section.one_of("range") == "auto" ? ImageScale::automatic : ImageScale::fixed;
    return;
  }
  const std::vector<double> range = *section.numbers("range");
  if (range.size() != 2 || !(range[0] < range[1]))
    section.fail("range", "'range' must be \"auto\", \"fixed\" or two numbers, the lower one first");
  images.scale = ImageScale::given;
  images.range = {range[0], range[1]};
}

}  // namespace

std::vector<ImagesConfig> read_images(const TomlSection& root, const RunConfig& config) {
  std::vector<ImagesConfig> all;
  for (const TomlSection& section : root.sections("images")) {
    section.allow();
    section.require({"name", "value"});
    ImagesConfig images;
    images.name = read_name(section, all);
    images.value = *section.text("value");
    check_formula(section, "value", images.value, names_of_state(config));
    images.every = section.integer("every").value_or(images.every);
    images.plane = read_plane(section, config.grid);
    read_range(section, images);
    if (const auto name = section.one_of("colormap")) images.colormap = *parse_colormap(*name);
    all.push_back(std::move(images));
  }
  return all;
}

std::int64_t nearest_point(const Grid& grid, const ImagePlane& plane) {
  if (grid.domain.dimensions < axis_count)
    throw Error(Status::invalid_input,
                fmt::format("planes are for 3D grids; this one is {}D", grid.domain.dimensions));
  const int axis = plane.axis;
  const std::int64_t points = grid.domain.shape[axis];
  const double place = (plane.at - grid.origin[axis]) / grid.spacing[axis];
  if (!(place >= -0.5 && place <= static_cast<double>(points) - 0.5))
    throw Error(Status::invalid_input,
                fmt::format("{} = {} lies outside the grid, whose points go from {} to {}", axis_names[axis],
                            plane.at, grid.origin[axis],
                            grid.origin[axis] + grid.spacing[axis] * static_cast<double>(points - 1)));
  return std::clamp<std::int64_t>(std::llround(place), 0, points - 1);
}

}  // namespace spsolve
