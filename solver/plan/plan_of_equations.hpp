// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "solver/plan/plan.hpp"

namespace spsolve {

/// Returns the mean seconds of a candidate over a period of events: steps that are no whole launch are single
/// ones, of `single` seconds each.
double at_pace(const Pace& pace, const Candidate& candidate, double single);

/// Adds to a plan what strides of a two-level equation (kernels/operator/strided_unit.hpp) can do, on tensor
/// cores and on CUDA cores: as candidates, or with what keeps them from being some. `single` as in at_pace().
void add_strides(Plan& plan, const Problem& problem, const DeviceModel& device, const PlanRequest& request,
                 double single);

}  // namespace spsolve
