// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "app/setup/points.hpp"
#include "io/input/config.hpp"
#include "io/probe_file.hpp"
#include "solver/block.hpp"

namespace spsolve {

/// Records the probes of an input. Rank 0 interpolates and writes: the values of grid points travel to it, so
/// that the bits of a row do not depend on the number of ranks.
class Probes {
 public:
  /// Reads places. Collective; every rank throws the same Error(invalid_input) if a file cannot be read or a
  /// point lies outside the grid.
  Probes(const Communicator& communicator, const RunConfig& config, const Problem& problem, Block& block);

  /// Opens probes.h5 in the output directory. `restart` is the step that the run goes on from, -1 at its
  /// beginning. Collective.
  void open(std::int64_t restart);
  /// Keeps the rows that are due at `step`, and writes them now and then. Collective.
  void record(std::int64_t step);
  /// Ends the file with the row of `step`, the last of a run that ended before its time. Collective.
  void end_at(std::int64_t step);
  /// Writes the rows that are kept and returns when they are on disk. Collective.
  void flush();

 private:
  struct Group {
    ProbeGroup file;
    std::vector<std::size_t> fields;           // numbers in the problem
    std::vector<std::vector<Corner>> corners;  // by point
    std::vector<std::size_t> places;           // by point and corner: of its value in what rank 0 gathers
    std::unique_ptr<PointValues> own;          // grid points of this rank
    std::vector<int> counts;                   // of grid points, by rank
    std::vector<std::int64_t> steps;           // of the rows that are kept
    std::vector<std::vector<double>> rows;     // by field: values of the grid points of this rank
  };
  void write(std::size_t number);

  Communicator communicator_;
  const RunConfig& config_;
  Precision precision_;
  Block& block_;
  std::vector<Group> groups_;
  std::unique_ptr<ProbeFile> file_;  // on rank 0
};

}  // namespace spsolve
