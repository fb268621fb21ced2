// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "app/setup/device.hpp"
#include "app/setup/planning.hpp"
#include "app/setup/terminal.hpp"
#include "solver/plan/plan.hpp"

namespace spsolve {

/// Returns true if a run may tune its plan: "auto" tunes on GPUs, where timing pays.
inline bool may_tune(const ComputeConfig& compute, const DeviceChoice& device) {
  return compute.tune.value_or(device.cuda);
}

/// Returns the plan that was the fastest when the problem was tuned before, with the candidates that `plan`
/// has ($XDG_CACHE_HOME/spsolve/tuned-<key>.json), or nothing if it was not tuned. The plan holds for any
/// number of ranks, whichever run timed it, so that their results are the same. Every rank gets the same
/// plan. Collective.
std::optional<StoredPlan> remembered_plan(const Communicator& communicator, const Problem& problem,
                                          const PlanRequest& request, const Plan& plan,
                                          const DeviceChoice& device, const Terminal& terminal);

/// Returns which of a plan's best few candidates are timed for a run of `steps` steps on `points` points per
/// rank: those that may be the fastest. Returns none if that would take more than a fiftieth of the run (a
/// tenth, and more candidates, if rates of the device are guessed). Without a number of steps all are timed.
/// A single candidate is not timed.
std::vector<Candidate> candidates_to_time(const Plan& plan, double points, std::optional<std::int64_t> steps);

/// Returns the remembered plan. If there is none, times the best few candidates on the real grid and these
/// ranks, and returns and remembers the plan with the fastest. Returns nothing if the plan is not tuned. With
/// `steps`, the length of the run, timing must pay (see candidates_to_time()). The result is the same on
/// every rank. Collective.
std::optional<StoredPlan> tuned_plan(const Communicator& communicator, const Problem& problem,
                                     const PlanRequest& request, const Plan& plan,
                                     std::optional<std::int64_t> steps, const DeviceChoice& device,
                                     const ParallelConfig& parallel, const Terminal& terminal);

}  // namespace spsolve
