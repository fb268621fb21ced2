// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/setup/points.hpp"
#include "io/input/config.hpp"
#include "io/language/row_program.hpp"
#include "solver/block.hpp"

namespace spsolve {

/// Turns the point sources of an input into amounts that are added to grid points of a block.
class PointSources {
 public:
  /// Reads positions and values. Collective; every rank throws the same Error(invalid_input) if a file cannot
  /// be read, a point lies outside the grid, or a dataset of values does not fit the points and the steps.
  PointSources(const Communicator& communicator, const RunConfig& config, Tables& tables,
               const Problem& problem, const Block& block);

  /// Return the points of the block and of its halo that have amounts, and the number of amounts of a step.
  const std::vector<AddedPoint>& added() const { return added_; }
  std::size_t columns() const { return columns_; }
  /// Sets the amounts that are added after the step from `step` to the next: 0 after the last step of the
  /// run.
  void amounts(std::int64_t step, std::span<double> amounts);
  /// Calls use(key, value) with the values of a step of all points that reach the block; `key` is that of
  /// their table in the input.
  void for_each_value(std::int64_t step,
                      const std::function<void(const std::string& key, double value)>& use);

 private:
  /// Holds the points of one table that reach grid points which the block computes.
  struct Source {
    std::string key;
    std::vector<std::vector<double>> along;  // x, y, z that the grid has, then coefficients; by point
    std::vector<std::int64_t> numbers;       // the numbers of the points among all points of the table
    std::unique_ptr<RowProgram> formula;     // null: the table holds the values
    std::shared_ptr<const Table> table;      // null: a formula gives the values

    std::size_t points() const { return numbers.size(); }
  };
  /// Holds the share of a source's point that a grid point takes.
  struct Share {
    std::size_t column, source, point;
    double weight;
  };
  void evaluate(const Source& source, std::int64_t step, std::vector<double>& values);

  double dt_;
  std::int64_t steps_;
  std::vector<Source> sources_;
  std::vector<AddedPoint> added_;
  std::size_t columns_ = 0;
  std::vector<Share> shares_;                // in the order of sources, points and corners, which sums follow
  std::vector<std::vector<double>> values_;  // by source and point, of the step
  std::vector<double> workspace_;
};

}  // namespace spsolve
