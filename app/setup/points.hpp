// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "halo/communicator.hpp"
#include "io/grid.hpp"
#include "io/input/config.hpp"

namespace spsolve {

using Coordinates = std::array<double, 3>;  // {z, y, x}

/// A grid point and its share of a point between grid points.
struct Corner {
  Index3 p;
  double weight;
};

/// Returns the grid points around a point of the grid with the weights of linear interpolation, x fastest, up
/// to two along each axis and none with the weight 0; or the nearest grid point, the upper one of two.
std::vector<Corner> corners_of(const Grid& grid, const Coordinates& point, Interpolation interpolation);

/// Returns the points of an input. `key` names them in errors. Collective; every rank throws the same Error
/// if a file cannot be read or a point lies outside the grid.
std::vector<Coordinates> read_points(const Communicator& communicator, const Grid& grid,
                                     const PointsForm& form, const std::string& key);

/// Numbers in rows and columns, from a dataset of one axis (one column) or two.
struct Table {
  std::int64_t rows = 0, columns = 1;
  std::vector<double> values;  // row after row
};

/// Reads a whole dataset. Collective, as read_points().
Table read_table(const Communicator& communicator, const DatasetForm& form, const std::string& key);

/// "point_sources", or "point_sources.<number>" if there are several: what errors call a table.
std::string key_of_source(const RunConfig& config, std::size_t number);

/// Reads the values of a point source over time: one row for each step, and one column or one for each of
/// its `points`. Collective, as read_points().
Table read_signals(const Communicator& communicator, const RunConfig& config, std::size_t number,
                   std::size_t points);

/// Reads all places and values of point sources and probes and finds what is wrong with them. Collective.
void check_points(const Communicator& communicator, const RunConfig& config);

}  // namespace spsolve
