// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/device.hpp"
#include "app/terminal.hpp"
#include "solver/plan.hpp"

namespace spsolve {

/// The plan with the fastest of its best few candidates, timed on the real grid and these ranks, as JSON to
/// go on with. It is remembered for the same problem and request on as many of the same devices
/// ($XDG_CACHE_HOME/spsolve/tuned-<key>.json) and taken from there the next time. The same on every rank.
/// Collective.
std::string tuned_plan(const Communicator& communicator, const Problem& problem, const PlanRequest& request,
                       const Plan& plan, const DeviceChoice& device, const ParallelConfig& parallel,
                       const Terminal& terminal);

}  // namespace spsolve
