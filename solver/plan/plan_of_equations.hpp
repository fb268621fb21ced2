// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <variant>

#include "solver/plan/plan.hpp"

namespace spsolve {

/// Returns the mean seconds of a candidate over a period of events. Steps that fill no whole launch are
/// single steps, of `single` seconds each.
double mean_with_single_steps(const EventPattern& events, const Candidate& candidate, double single);

/// Adds methods that take the steps of a launch as sweeps, strides or fused weights, for every unit, layout
/// and depth that the request allows. `evaluated` returns the numbers of a method or what rules it out.
void add_sweeps(Plan& plan, const Problem& problem, const DeviceModel& device, const PlanRequest& request,
                bool strided,
                const std::function<std::variant<Candidate, Refusal>(const Method&)>& evaluated);

/// Returns why fused weights do not take the steps of equations, as the end of a sentence, or nothing if they
/// may: one weighted sum over a single field, between walls that Face expresses.
std::string why_no_fused_weights(const Problem& problem);

/// Adds fused weights of equations between walls with reflections (kernels/wall_reflections.hpp), on tensor
/// cores, to a plan: as candidates, or with the obstacles that rule them out. `single` is as in
/// mean_with_single_steps().
void add_fused_weights(Plan& plan, const Problem& problem, const DeviceModel& device,
                       const PlanRequest& request, double single);

/// Adds strides of a two-level equation (kernels/strides/strided_unit.hpp), on tensor cores and on CUDA
/// cores, to a plan: as candidates, or with the obstacles that rule them out. `single` is as in
/// mean_with_single_steps().
void add_strides(Plan& plan, const Problem& problem, const DeviceModel& device, const PlanRequest& request,
                 double single);

}  // namespace spsolve
