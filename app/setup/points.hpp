// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "app/setup/tables.hpp"
#include "io/grid.hpp"
#include "io/input/config.hpp"

namespace spsolve {

using Coordinates = std::array<double, 3>;  // {z, y, x}

/// Holds a grid point and its share of a point between grid points.
struct Corner {
  Index3 p;
  double weight;
};

/// Returns the grid points around a point with their weights. Linear interpolation has up to two along each
/// axis, x fastest, and none with the weight 0. Otherwise the nearest grid point is taken, the upper one of
/// two.
std::vector<Corner> corners_of(const Grid& grid, const Coordinates& point, Interpolation interpolation);

/// Returns the points of an input. `key` names them in errors. Collective; every rank throws the same Error
/// if a file cannot be read or a point lies outside the grid.
std::vector<Coordinates> read_points(Tables& tables, const Grid& grid, const PointsForm& form,
                                     const std::string& key);

/// Returns the points of a table of [[probes]]. Collective, as the other read_points().
std::vector<Coordinates> read_points(Tables& tables, const Grid& grid, const ProbesConfig& probes);

/// Returns "point_sources", or "point_sources.<number>" if there are several, as errors name a table.
std::string key_of_source(const RunConfig& config, std::size_t number);

/// Reads the values of a point source over time. There is one row for each step, and either one column or one
/// for each of its `points`. Collective, as read_points().
std::shared_ptr<const Table> read_signals(Tables& tables, const RunConfig& config, std::size_t number,
                                          std::size_t points);

/// Reads all positions and values of point sources and probes and throws if one is invalid. Collective.
void check_points(Tables& tables, const RunConfig& config);

}  // namespace spsolve
