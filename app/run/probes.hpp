// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "app/run/probe_values.hpp"
#include "app/setup/points.hpp"
#include "io/input/config.hpp"
#include "io/probe_file.hpp"
#include "solver/block.hpp"

namespace spsolve {

/// Records the probes of an input in probes.h5, which rank 0 writes. The bits of a row do not depend on the
/// number of ranks.
class Probes {
 public:
  /// Reads positions. Launches of `block` take up to `fuse` steps. With `background`, rows are gathered and
  /// written on a thread of their own while the run goes on. Collective; every rank throws the same
  /// Error(invalid_input) if a file cannot be read or a point lies outside the grid.
  Probes(const Communicator& communicator, const RunConfig& config, Tables& tables, const Problem& problem,
         Block& block, int fuse, bool background);
  ~Probes();

  /// Returns the grid points that the block must record, a group for each table of the input.
  std::vector<RecordedPoints> recorded() const;
  /// Opens probes.h5 in the output directory. `restart` is the step from which the run continues, -1 at its
  /// beginning. Collective.
  void open(std::int64_t restart);
  /// Notes that the block has recorded rows up to `step`, and writes rows now and then. Collective. A failure
  /// to write rows is thrown by this or any later call.
  void record(std::int64_t step);
  /// Ends the file with the row of `step`, the last step of a run that ended early. Collective.
  void end_at(std::int64_t step);
  /// Writes the rows that are kept and returns when they are on disk. Collective.
  void flush();

 private:
  struct OpenGroup {
    ProbeGroup file;
    std::vector<std::size_t> fields;  // numbers in the problem
    ProbeValues values;
    std::int64_t kept = 1;            // rows that the block keeps before they are fetched
    std::int64_t begin = 0, end = 0;  // rows that the block has recorded and that were not fetched
  };
  /// Holds rows [first, first + count) of a group on their way to the file.
  struct MovingRows {
    std::size_t group;
    std::int64_t first, count;
    std::unique_ptr<RecordedRows> rows;
    std::shared_future<void> written;
  };
  /// Starts to bring the recorded rows of a group to the file.
  void fetch(std::size_t number);
  /// Waits until the oldest rows are written.
  void take_oldest();
  /// Writes rows. Collective among the threads that write.
  void write(std::size_t number, std::int64_t first, std::int64_t count, RecordedRows& rows);

  Communicator communicator_;
  std::optional<DuplicateCommunicator> of_threads_;
  const RunConfig& config_;
  Precision precision_;
  Block& block_;
  int fuse_;
  bool background_;
  std::vector<OpenGroup> groups_;
  std::unique_ptr<ProbeFile> file_;  // on rank 0
  std::deque<MovingRows> chunks_;    // their threads use the others
};

}  // namespace spsolve
