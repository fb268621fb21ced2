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
  /// Reads positions. Launches of `block` take up to `fuse` steps. Collective; every rank throws the same
  /// Error(invalid_input) if a file cannot be read or a point lies outside the grid.
  Probes(const Communicator& communicator, const RunConfig& config, const Problem& problem, Block& block,
         int fuse);

  /// Returns the grid points that the block must record, a group for each table of the input.
  std::vector<RecordedPoints> recorded() const;
  /// Opens probes.h5 in the output directory. `restart` is the step from which the run continues, -1 at its
  /// beginning. Collective.
  void open(std::int64_t restart);
  /// Notes that the block has recorded rows up to `step`, and writes rows now and then. Collective.
  void record(std::int64_t step);
  /// Ends the file with the row of `step`, the last step of a run that ended early. Collective.
  void end_at(std::int64_t step);
  /// Writes the rows that are kept and returns when they are on disk. Collective.
  void flush();

 private:
  /// Holds the share of a grid point in the value at a point; `place` is its index in the values that rank 0
  /// gathers.
  struct Share {
    std::size_t place;
    double weight;
  };
  struct Group {
    ProbeGroup file;
    std::vector<std::size_t> fields;           // numbers in the problem
    std::vector<Index3> own;                   // grid points of this rank
    std::vector<int> counts;                   // of grid points, by rank
    std::vector<Share> shares;                 // on rank 0, by point
    std::vector<std::size_t> starts;           // of points in `shares`, and the end
    std::int64_t kept = 1;                     // rows that the block keeps before they are fetched
    std::int64_t begin = 0, end = 0;           // rows that the block has recorded and that were not fetched
    std::unique_ptr<RecordedRows> travelling;  // the rows before those, or none
    std::int64_t travelling_begin = 0;
  };
  /// Starts to bring the recorded rows of a group to the host.
  void fetch(std::size_t number);
  /// Waits for the rows on their way to the host, and writes them.
  void write(std::size_t number);
  /// Returns the values of a row at all grid points of a group on rank 0; `own` holds those of this rank.
  const double* gather(const Group& group, const double* own);
  /// Sets the values of a row at the points of a group on rank 0.
  void interpolate(const Group& group, const double* own, double* values);

  Communicator communicator_;
  const RunConfig& config_;
  Precision precision_;
  Block& block_;
  int fuse_;
  std::vector<Group> groups_;
  std::unique_ptr<ProbeFile> file_;  // on rank 0
  // These vectors are the memory of write(): recorded values of this rank and of all ranks, values at points
  // by field.
  std::vector<double> recorded_, gathered_;
  std::vector<std::vector<double>> values_;
};

}  // namespace spsolve
