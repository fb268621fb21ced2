// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "app/run/file_queue.hpp"
#include "app/run/output_streams.hpp"
#include "app/setup/setup.hpp"
#include "app/setup/terminal.hpp"
#include "io/snapshot.hpp"
#include "solver/evolve.hpp"

namespace spsolve {

/// Writes the files of a run into its directory, and measures the time that stepping waits for them. All
/// functions are collective.
class Writer {
 public:
  /// `restart` is the step of the checkpoint from which the run continues, or -1 at its beginning. `files` of
  /// files_at_a_time() may be in progress.
  Writer(const Communicator& communicator, const Setup& setup, const Terminal& terminal, std::int64_t restart,
         int files);
  /// Waits for all files, and warns of a failure if finish() was not called to throw it.
  ~Writer();

  /// Writes a snapshot. Errors are thrown by this or any later call, at the latest by finish().
  void snapshot(std::int64_t step, const CopyState& state);
  /// Writes a checkpoint. A failure is only a warning, because older checkpoints remain.
  void checkpoint(std::int64_t step, const CopyState& state);
  void diagnostics(std::int64_t step, const std::vector<Diagnostics>& by_field,
                   const std::vector<double>& sums);
  /// Returns when all files are on disk. If one of them failed, throws when all have ended.
  void finish();

  /// Must be called after every launch.
  void launched() { wanted_checkpoint_ = -1; }
  /// Returns, after finish(), whether the checkpoint that the last launch asked for, if any, was written. The
  /// checkpoint may hold the state before that launch.
  bool checkpoint_written() const { return wanted_checkpoint_ < 0 || wanted_checkpoint_ == last_checkpoint_; }
  /// Returns the step of the last checkpoint from which a run can continue, or -1 if there is none.
  std::int64_t last_checkpoint() const { return last_checkpoint_; }
  FileQueue& files() { return files_; }
  /// Writes the streams of [[outputs]] that are due at `step`, or, if `rest`, all others.
  void outputs(std::int64_t step, Block& block, bool rest = false);
  double seconds() const { return seconds_; }

 private:
  double time(std::int64_t step) const { return static_cast<double>(step) * setup_.config.time.dt; }
  void flush_results(const Communicator& communicator);
  bool is_steady(std::size_t field, const Diagnostics& values) const;
  void warn_where_frozen(std::int64_t step, const std::vector<Diagnostics>& by_field);
  void warn_of_sums(std::int64_t step, const std::vector<double>& sums);
  void add(FileQueue::FileKind kind, const CopyState& state, FileQueue::Write write, FileQueue::Done done);

  Communicator communicator_;
  FileCommunicators of_files_;
  SnapshotSeries series_;
  std::vector<std::string> names_;         // names of the arrays of a state: the fields, then previous values
  std::vector<std::size_t> in_snapshots_;  // numbers of the fields that snapshots hold
  const Setup& setup_;
  const Terminal& terminal_;
  std::int64_t wanted_checkpoint_ = -1;  // step
  std::atomic<std::int64_t> last_checkpoint_;
  double seconds_ = 0;
  std::int64_t compared_ = 0;  // last step of which the diagnostics were taken, after the first
  double change_ = 0;          // largest_change() there
  bool warned_of_range_ = false, warned_of_sums_ = false;
  std::vector<bool> warned_of_frozen_;  // by field
  FileQueue files_;                     // its threads use the others
  OutputStreams outputs_;
};

}  // namespace spsolve
