// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/setup/points.hpp"
#include "io/input/config.hpp"
#include "io/language/row_program.hpp"
#include "solver/block.hpp"

namespace spsolve {

/// Adds the point sources of an input to the fields of a block.
class PointSources {
 public:
  /// Reads places and values. Collective; every rank throws the same Error(invalid_input) if a file cannot be
  /// read, a point lies outside the grid, or a dataset of values does not fit the points and the steps.
  PointSources(const Communicator& communicator, const RunConfig& config, const Problem& problem,
               Block& block);

  bool empty() const { return sources_.empty(); }
  /// Call after the launch from `step` to the next step.
  void add(std::int64_t step);

 private:
  /// The points of one table that reach grid points of this rank.
  struct Source {
    std::string key;
    std::vector<std::vector<double>> along;  // x, y, z that the grid has, then coefficients; by point
    std::vector<std::int64_t> numbers;       // of the points among all points of the table
    std::unique_ptr<RowProgram> formula;     // null: the values are in the table
    Table table;

    std::size_t points() const { return numbers.size(); }
  };
  /// The share of a source's point that a grid point takes.
  struct Share {
    std::size_t target, source, point;
    double weight;
  };
  struct Targets {
    std::size_t field;
    PointValues points;
    std::vector<Share> shares;  // in the order of sources, points and corners, which sums follow
  };
  void evaluate(const Source& source, std::int64_t step, std::vector<double>& values);

  double dt_;
  Block& block_;
  std::vector<Source> sources_;
  std::vector<Targets> targets_;             // by field
  std::vector<std::vector<double>> values_;  // by source and point, of the step
  std::vector<double> amounts_, workspace_;
};

}  // namespace spsolve
