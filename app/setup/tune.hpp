// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/setup/device.hpp"
#include "app/setup/planning.hpp"
#include "app/setup/terminal.hpp"
#include "solver/plan/plan.hpp"

namespace spsolve {

/// Returns true if a run may tune its plan: "auto" does on GPUs, where timing pays.
inline bool may_tune(const ComputeConfig& compute, const DeviceChoice& device) {
  return compute.tune.value_or(device.cuda);
}

/// The plan that was the fastest when the problem was tuned before
/// ($XDG_CACHE_HOME/spsolve/tuned-<key>.json); nothing where it was not tuned. The plan holds for any number
/// of ranks, whoever timed it, so that their results are the same. Every rank gets the same. Collective.
std::optional<KeptPlan> remembered_plan(const Communicator& communicator, const Problem& problem,
                                        const PlanRequest& request, const DeviceChoice& device,
                                        const Terminal& terminal);

/// Returns which of a plan's best few candidates are timed for a run of so many steps on `points` points per
/// rank: those that may be the fastest, and none where that would take more than a fiftieth of the run (a
/// tenth, and more of them, where rates of the device are guessed). All of them without a number of steps.
std::vector<Candidate> candidates_to_time(const Plan& plan, double points, std::optional<std::int64_t> steps);

/// Returns the remembered plan or, where there is none, that with the fastest of the best few candidates,
/// timed on the real grid and these ranks, and remembered; nothing where it is not tuned. With `steps`, those
/// of the run, timing must pay (see above). The same on every rank. Collective.
std::optional<KeptPlan> tuned_plan(const Communicator& communicator, const Problem& problem,
                                   const PlanRequest& request, const Plan& plan,
                                   std::optional<std::int64_t> steps, const DeviceChoice& device,
                                   const ParallelConfig& parallel, const Terminal& terminal);

}  // namespace spsolve
