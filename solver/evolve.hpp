// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <set>

#include "solver/block.hpp"
#include "solver/diagnostics.hpp"

namespace spsolve {

/// What happens at which steps. Cadences count from step 0; 0 means only where said.
struct Schedule {
  std::int64_t first = 0;              // the step of the block's state now
  std::int64_t last = 0;               // the step to reach
  std::int64_t snapshot_every = 0;     // always at the last step; with a cadence also at step 0
  std::int64_t diagnostics_every = 0;  // always at step 0 and at the last step
  std::int64_t checkpoint_every = 0;
  int fuse = 1;                   // steps per launch; fewer where the next event is nearer
  bool final_checkpoint = false;  // at the last step, too
};

enum class Request { none, checkpoint, stop };
enum class Outcome { finished, stopped };

/// Copies what is kept of the state of an event to host memory. Throws Error(diverged) where the state is not
/// finite.
using CopyState = std::function<std::shared_ptr<HostCopy>(const Sampling& kept)>;

/// What the caller does at events; every function is called on all ranks at the same step. `state` is for
/// calls before the observer returns; whether its copy lasts longer is up to the backend.
struct Observers {
  std::function<void(std::int64_t step, const CopyState& state)> snapshot;
  std::function<void(std::int64_t step, const CopyState& state)> checkpoint;
  std::function<void(std::int64_t step, const Diagnostics& diagnostics)> diagnostics;
  /// After every launch: what signals and clocks ask for, the same answer on all ranks.
  std::function<Request(std::int64_t step)> poll;
};

/// Steps from `first` to `last`. Launches end at every event, and one step before diagnostics (their change
/// is that of one step); where else they end depends on the step and the schedule only, so a run continued
/// from a checkpoint has the launches, and bits, of one that never stopped. Stops with a checkpoint when poll
/// says so. Throws Error(diverged) naming step and point when values are no longer finite, after a checkpoint
/// of the state before if that one is finite: looked for at every event.
Outcome evolve(Block& block, const Communicator& communicator, const Problem& problem,
               const Schedule& schedule, const Observers& observers);

/// The lengths of the first thousand launches, in steps: nearly always all that there are.
std::set<int> launch_lengths(const Schedule& schedule);

/// The step at which the launch that begins at `step` ends.
std::int64_t next_stop(const Schedule& schedule, std::int64_t step);

}  // namespace spsolve
