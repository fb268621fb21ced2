// SPDX-License-Identifier: Apache-2.0
#include "io/input/read_points.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <variant>

#include "io/input/read_fields.hpp"
#include "io/input/read_problem.hpp"

namespace spsolve {
namespace {

namespace fs = std::filesystem;

std::array<double, 3> read_point(const TomlSection& section, const toml::array& list, const Grid& grid) {
  std::vector<double> values;
  for (const toml::node& value : list) values.push_back(section.number_of("at", value));
  const auto point = per_axis(section, "at", values, grid.domain.dimensions, 0.0);
  require_inside(grid, point, section.error_prefix("at") + "'at': ");
  return point;
}

/// Reads one point, a list of points, or { file, dataset }.
PointsForm read_places(const TomlSection& section, const Grid& grid, const fs::path& directory) {
  const toml::node& node = section.require("at");
  if (node.is_table()) {
    const TomlSection dataset = *section.section("at");
    return read_dataset(dataset, directory);
  }
  const toml::array* list = node.as_array();
  if (!list || list->empty())
    section.fail("at", fmt::format("'at' must be a point, a list of points, or {{ file = \"...\", dataset = "
                                   "\"...\" }}, not {}",
                                   list ? "an empty list" : std::string(type_name(node))));
  std::vector<std::array<double, 3>> points;
  if (!list->front().is_array()) return std::vector{read_point(section, *list, grid)};
  for (const toml::node& point : *list) {
    if (!point.is_array())
      section.fail("at", fmt::format("'at' must hold points such as [{}], not {}",
                                     fmt::join(std::vector<double>(grid.domain.dimensions, 0.0), ", "),
                                     type_name(point)));
    points.push_back(read_point(section, *point.as_array(), grid));
  }
  return points;
}

}  // namespace

void require_inside(const Grid& grid, const std::array<double, 3>& point, const std::string& what) {
  for (int axis = grid.domain.first_axis(); axis < axis_count; ++axis) {
    const std::int64_t last = grid.domain.shape[axis] - (grid.domain.periodic(axis) ? 0 : 1);
    const double first = grid.origin[axis], end = first + grid.spacing[axis] * static_cast<double>(last);
    // Coordinates of points are rounded, and so may be the numbers that they were computed from.
    const double rounding =
        4 * std::numeric_limits<double>::epsilon() * std::max(std::abs(first), std::abs(end));
    if (!(point[axis] >= first - rounding && point[axis] <= end + rounding))
      throw Error(Status::invalid_input,
                  fmt::format("{}{} = {} lies outside the grid, which goes from {} to {}", what,
                              axis_names[axis], point[axis], first, end));
  }
}

ExpressionNames names_at_point(const RunConfig& config) {
  ExpressionNames names;
  for (int axis = axis_count - 1; axis >= config.grid.domain.first_axis(); --axis)
    names.variables.push_back({axis_names[axis]});
  add_coefficients_and_time(config, names);
  return names;
}

std::vector<PointSourceConfig> read_point_sources(const TomlSection& root, const RunConfig& config,
                                                  const fs::path& directory) {
  const std::vector<std::string> fields = field_names(config);
  std::vector<PointSourceConfig> sources;
  for (const TomlSection& section : root.sections("point_sources")) {
    section.allow();
    PointSourceConfig source;
    if (fields.size() > 1)
      section.require({"field", "at", "value"});
    else
      section.require({"at", "value"});
    source.field = known_field(section, "field", section.text("field").value_or(fields.front()), fields);
    source.at = read_places(section, config.grid, directory);
    source.value = read_values(section, "value", directory);
    if (const auto* formula = std::get_if<ExpressionForm>(&source.value))
      check_formula(section, "value", formula->expression, names_at_point(config));
    if (section.one_of("interpolation").value_or("linear") == "nearest")
      source.interpolation = Interpolation::nearest;
    sources.push_back(std::move(source));
  }
  return sources;
}

std::vector<ProbesConfig> read_probes(const TomlSection& root, const RunConfig& config,
                                      const fs::path& directory) {
  const std::vector<std::string> fields = field_names(config);
  std::vector<ProbesConfig> all;
  for (const TomlSection& section : root.sections("probes")) {
    section.allow();
    ProbesConfig probes;
    section.require({"name", "at"});
    probes.name = *section.text("name");
    if (probes.name.empty() || probes.name.find_first_of("/.") != std::string::npos)
      section.fail("name", fmt::format("'name' is '{}'; wanted the name of a group in probes.h5, without '/' "
                                       "and '.'",
                                       probes.name));
    if (std::ranges::find(all, probes.name, &ProbesConfig::name) != all.end())
      section.fail("name", fmt::format("there are probes with the name '{}' already", probes.name));
    probes.fields = read_fields(section, fields);
    if (probes.fields.empty()) probes.fields = fields;
    for (const char* taken : {"step", "time", "at"})
      if (std::ranges::find(probes.fields, taken) != probes.fields.end())
        section.fail("fields",
                     fmt::format("probes cannot hold the field '{}', whose name their files use", taken));
    probes.at = read_places(section, config.grid, directory);
    probes.every = section.integer("every").value_or(1);
    all.push_back(std::move(probes));
  }
  return all;
}

}  // namespace spsolve
