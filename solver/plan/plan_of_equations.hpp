// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "solver/plan/plan.hpp"

namespace spsolve {

/// Returns the mean seconds of a candidate over a period of events. Steps that fill no whole launch are
/// single steps, of `single` seconds each.
double mean_with_single_steps(const EventPattern& events, const Candidate& candidate, double single);

/// Adds strides of a two-level equation (kernels/strides/strided_unit.hpp), on tensor cores and on CUDA
/// cores, to a plan: as candidates, or with the obstacles that rule them out. `single` is as in
/// mean_with_single_steps().
void add_strides(Plan& plan, const Problem& problem, const DeviceModel& device, const PlanRequest& request,
                 double single);

}  // namespace spsolve
