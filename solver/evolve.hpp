// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "solver/block.hpp"
#include "solver/diagnostics.hpp"
#include "solver/interval.hpp"

namespace spsolve {

/// Lists the steps at which events happen. Intervals count from step 0; with interval 0 an event happens only
/// at the steps that the comments of the members name.
struct Schedule {
  std::int64_t first = 0;              // step of the block's current state
  std::int64_t last = 0;               // the step to reach
  std::int64_t snapshot_every = 0;     // always at the last step; with an interval also at step 0
  std::int64_t diagnostics_every = 0;  // always at step 0 and at the last step, unless `measured`
  std::int64_t checkpoint_every = 0;
  int fuse = 1;                             // steps per launch; fewer if the next event is nearer
  bool final_checkpoint = false;            // also writes a checkpoint at the last step
  std::optional<double> until_change = {};  // ends the run, see largest_change()
  std::optional<double> change = {};        // largest_change() of the state of step `first`, if it is known
  std::vector<Interval> launches_end_every = {};  // further intervals at whose ends launches end
  /// Is true if the state holds the values one step before, so that launches need not end one step before
  /// diagnostics. If the steps before an event are no multiple of `fuse`, the remainder comes first, in
  /// single steps, because strides start anew after them.
  bool keeps_previous = false;
  bool measured = false;  // the diagnostics of step `first` are on record
};

/// Names what signals or clocks ask for: nothing, a checkpoint, or a checkpoint and the end of the run.
enum class Request { none, checkpoint, stop };
/// Names how a run ended: it reached the last step, its state became steady, or it was asked to stop.
enum class Outcome { finished, steady, stopped };

/// Holds how a run ended, and where.
struct EvolveResult {
  Outcome outcome;
  std::int64_t step;  // the last step that was computed
};

/// Holds copies of fields in host memory, in the order of the problem.
using Copies = std::vector<std::shared_ptr<HostCopy>>;

/// Copies the sampled points of all fields of an event's state to host memory; with `with_previous` followed
/// by the previous values of the fields that have them. Throws Error(diverged) if the state is not finite.
using CopyState = std::function<Copies(const Sampling& sampling, bool with_previous)>;

/// Holds callbacks for events. All ranks call each function at the same step. `state` may be called only
/// before the observer returns; the backend decides whether its copy lasts longer.
struct Observers {
  std::function<void(std::int64_t step, const CopyState& state)> snapshot;
  std::function<void(std::int64_t step, const CopyState& state)> checkpoint;
  std::function<void(std::int64_t step, const std::vector<Diagnostics>& by_field)> diagnostics;
  /// `poll` is called after every launch and returns the request of signals or clocks, which must be the same
  /// on all ranks.
  std::function<Request(std::int64_t step)> poll;
  /// `launched` is called after every launch from one step to another, before anything reads the state.
  std::function<void(std::int64_t from, std::int64_t to)> launched = {};
  /// `cause` is called when the state at `step` is NaN or infinite. It returns a text about values of time
  /// that may be the cause, or nothing.
  std::function<std::string(std::int64_t step)> cause = {};
};

/// Advances from step `first` to `last`. Launches end at every event. They also end one step before
/// diagnostics, whose change is that of one step, unless the state holds the values one step before.
/// Otherwise launches depend only on step and schedule, so a run continued from a checkpoint has the same
/// launches, and bits, as one that never stopped.
///
/// Stops with a checkpoint when poll asks for it. At every event values are checked. If any is not finite,
/// Error(diverged) with step and point is thrown, after a checkpoint of the previous state if that is finite.
EvolveResult evolve(Block& block, const Communicator& communicator, const Problem& problem,
                    const Schedule& schedule, const Observers& observers);

/// Returns the largest change of a field in the last step, as a share of its norm.
double largest_change(const std::vector<Diagnostics>& by_field);

/// Returns the lengths in steps of the first thousand launches, which are nearly always all lengths that
/// occur.
std::set<int> launch_lengths(const Schedule& schedule);

/// Returns the step at which the launch that begins at `step` ends.
std::int64_t next_stop(const Schedule& schedule, std::int64_t step);

}  // namespace spsolve
