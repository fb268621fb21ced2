// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "solver/plan/plan.hpp"

namespace spsolve {

/// Limits how many times slower than the fastest depth a smaller depth may be, in the model, and still be
/// preferred.
constexpr double as_good = 1.01;

/// Returns true if a request names the kernels to take.
inline bool asked_for(const PlanRequest& request) { return request.unit || request.layout; }

/// Returns the methods, without strides, of every unit, layout and depth that a request allows on a device.
std::vector<Method> considered_methods(Precision precision, const DeviceModel& device,
                                       const PlanRequest& request);

/// Returns the numbers of a method that takes the weights of Problem::stencil, or what rules it out. No CPU
/// takes tensor cores unless the request asks for them.
std::variant<Candidate, Refusal> evaluated(const Problem& problem, const DeviceModel& device,
                                           const Method& method, const PlanRequest& request);

/// Adds a method to the candidates of a plan, or to those that are left out.
void add_method(Plan& plan, const Method& method, Precision precision,
                std::variant<Candidate, Refusal> found);

/// Returns why direct layouts lose more than fusing gains with weights of this extent, or nothing if they may
/// gain.
std::optional<Refusal> why_too_wide(const Index3& extent, const Domain& domain);

}  // namespace spsolve
