// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/device.hpp"
#include "app/terminal.hpp"
#include "solver/plan.hpp"

namespace spsolve {

/// Which of a plan's best few candidates are timed for a run of so many steps on `points` points per rank:
/// those that may be the fastest, and none where that would take more than a fiftieth of the run. All of them
/// without a number of steps.
std::vector<Candidate> candidates_to_time(const Plan& plan, double points, std::optional<std::int64_t> steps);

/// The plan with the fastest of its best few candidates, timed on the real grid and these ranks, as JSON to
/// go on with; empty where it is not tuned. It is remembered for the same problem and request on as many of
/// the same devices ($XDG_CACHE_HOME/spsolve/tuned-<key>.json) and taken from there the next time. With
/// `steps`, those of the run, timing must pay (see above). The same on every rank. Collective.
std::string tuned_plan(const Communicator& communicator, const Problem& problem, const PlanRequest& request,
                       const Plan& plan, std::optional<std::int64_t> steps, const DeviceChoice& device,
                       const ParallelConfig& parallel, const Terminal& terminal);

}  // namespace spsolve
