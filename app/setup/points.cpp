// SPDX-License-Identifier: Apache-2.0
#include "app/setup/points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/setup/terminal.hpp"
#include "io/input/read_points.hpp"

namespace spsolve {

namespace {

/// Throws if a dataset of values does not fit.
void require_fit(const Table& table, const DatasetForm& form, const std::string& key, std::size_t points,
                 std::int64_t steps) {
  const auto refuse = [&](const std::string& why) {
    throw Error(Status::invalid_input, fmt::format("{}{}: dataset {} {}", error_prefix_of(form, key),
                                                   form.file.string(), form.dataset, why));
  };
  if (table.rows < steps)
    refuse(fmt::format("has {} for {}; wanted one for each step", counted(table.rows, "row"),
                       counted(steps, "step")));
  if (table.columns != 1 && table.columns != static_cast<std::int64_t>(points))
    refuse(fmt::format("has {} for {}; wanted one, or one for each point", counted(table.columns, "column"),
                       counted(static_cast<std::int64_t>(points), "point")));
}

}  // namespace

std::vector<Corner> corners_of(const Grid& grid, const Coordinates& point, Interpolation interpolation) {
  std::vector<Corner> corners{{{0, 0, 0}, 1.0}};
  for (int axis = grid.domain.first_axis(); axis < axis_count; ++axis) {
    const std::int64_t n = grid.domain.shape[axis];
    const bool periodic = grid.domain.periodic(axis);
    double place = (point[axis] - grid.origin[axis]) / grid.spacing[axis];
    if (!periodic) place = std::clamp(place, 0.0, static_cast<double>(n - 1));
    if (interpolation == Interpolation::nearest) place = std::floor(place + 0.5);
    const double below = std::floor(place), share = place - below;
    std::vector<Corner> more;
    for (const Corner& corner : corners)
      for (const auto& [index, weight] : {std::pair{static_cast<std::int64_t>(below), 1.0 - share},
                                          {static_cast<std::int64_t>(below) + 1, share}})
        if (weight != 0) {
          more.push_back({corner.p, corner.weight * weight});
          more.back().p[axis] = periodic ? wrap(index, n) : index;
        }
    corners = std::move(more);
  }
  return corners;
}

std::vector<Coordinates> read_points(Tables& tables, const Grid& grid, const PointsForm& form,
                                     const std::string& key) {
  if (const auto* list = std::get_if<0>(&form)) return *list;
  const auto& dataset = std::get<DatasetForm>(form);
  const std::shared_ptr<const Table> read = tables.read(dataset, key);
  const Table& table = *read;
  const int dimensions = grid.domain.dimensions;
  const std::string place =
      fmt::format("{}{}: dataset {}", error_prefix_of(dataset, key), dataset.file.string(), dataset.dataset);
  if (table.columns != dimensions)
    throw Error(Status::invalid_input,
                fmt::format("{} has {}; wanted {}, the coordinates of a point in each row", place,
                            counted(table.columns, "column"), dimensions));
  std::vector<Coordinates> points;
  for (std::int64_t row = 0; row < table.rows; ++row) {
    Coordinates point{};
    std::copy_n(table.values.begin() + row * dimensions, dimensions, point.end() - dimensions);
    require_inside(grid, point, fmt::format("{}, row {}: ", place, row));
    points.push_back(point);
  }
  return points;
}

std::string key_of_source(const RunConfig& config, std::size_t number) {
  return config.point_sources.size() > 1 ? fmt::format("point_sources.{}", number) : "point_sources";
}

std::shared_ptr<const Table> read_signals(Tables& tables, const RunConfig& config, std::size_t number,
                                          std::size_t points) {
  const auto& dataset = std::get<DatasetForm>(config.point_sources[number].value);
  const std::string key = key_of_source(config, number) + ".value";
  std::shared_ptr<const Table> table = tables.read(dataset, key);
  require_fit(*table, dataset, key, points, config.time.steps);
  return table;
}

std::vector<Coordinates> read_points(Tables& tables, const Grid& grid, const ProbesConfig& probes) {
  return read_points(tables, grid, probes.at, fmt::format("probes.{}.at", probes.name));
}

void check_points(Tables& tables, const RunConfig& config) {
  for (std::size_t i = 0; i < config.point_sources.size(); ++i) {
    const PointSourceConfig& source = config.point_sources[i];
    const auto points = read_points(tables, config.grid, source.at, key_of_source(config, i) + ".at");
    if (std::holds_alternative<DatasetForm>(source.value)) read_signals(tables, config, i, points.size());
  }
  for (const ProbesConfig& probes : config.probes) read_points(tables, config.grid, probes);
}

}  // namespace spsolve
