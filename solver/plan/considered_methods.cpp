// SPDX-License-Identifier: Apache-2.0
#include "solver/plan/considered_methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "kernels/precision.hpp"
#include "solver/plan/kernel_family.hpp"

namespace spsolve {
namespace {

/// Returns the share that terms of a separable sweep may drop: half of the rounding error of the format, or
/// of the error that is accepted of its steps.
double dropped_share(Precision precision, int fuse, const PlanRequest& request) {
  return std::max(unit_roundoff(precision), accepted_per_step(request) * fuse) / 2;
}

/// Says why a depth is not considered: events leave no room for it, or the operand does not fit into
/// registers, so that direct layouts lose more than fusing gains.
std::optional<Refusal> why_too_deep(const Problem& problem, const DeviceModel& device, const Method& method,
                                    const PlanRequest& request) {
  const auto too_deep = [](std::string why) { return Refusal{Obstacle::depth, std::move(why)}; };
  if (!request.fuse && request.events.every > 0 &&
      method.fuse > std::max<std::int64_t>(1, request.events.every))
    return too_deep(fmt::format("an event ends launches every {} steps", request.events.every));
  if (!device.gpu || !method.fused_weights() || method.layout == Layout::separable || method.fuse == 1)
    return {};
  const Index3 extent = tap_box(problem.stencil).extent();
  Index3 planes{};
  for (int axis = 0; axis < axis_count; ++axis) planes[axis] = method.fuse * (extent[axis] - 1) + 1;
  return why_too_wide(planes, problem.domain);
}

/// Returns true if a method was asked for, so that it may be slow.
bool insists(const PlanRequest& request, const Method& method) {
  return asked_for(request) && method.fuse == request.fuse.value_or(1);
}

/// Returns true if a request allows the kernels of a family.
bool allows(const PlanRequest& request, const KernelFamily& family) {
  return (!request.unit || request.unit == family.unit) &&
         (!request.layout || request.layout == family.layout);
}

/// Says why a method with the weights of Problem::stencil is not considered; returns nothing if it is.
std::optional<Refusal> why_rejected(const Problem& problem, const DeviceModel& device, const Method& method,
                                    const PlanRequest& request) {
  if (method.unit != UnitKind::scalar && !device.gpu && !asked_for(request))
    return Refusal{Obstacle::no_kernel, "CPUs emulate tensor cores, slowly, and only if they are asked for"};
  if (auto none = why_no_kernel(problem, device, method)) return none;
  if (auto deep = why_too_deep(problem, device, method, request); deep && !insists(request, method))
    return deep;
  if (request.accuracy || request.unpromised) return {};
  return why_no_promise(problem, method);
}

}  // namespace

std::optional<Refusal> why_too_wide(const Index3& extent, const Domain& domain) {
  const Index3 most = domain.dimensions == 3 ? Index3{9, 9, 9} : Index3{1, 15, 33};
  for (int axis = domain.first_axis(); axis < axis_count; ++axis)
    if (extent[axis] > most[axis])
      return Refusal{Obstacle::depth,
                     fmt::format("the fused weights would span {} points along {}; beyond {} direct layouts "
                                 "lose more than fusing gains, unless they are asked for",
                                 extent[axis], "zyx"[axis], most[axis])};
  return {};
}

std::vector<Method> considered_methods(Precision precision, const DeviceModel& device,
                                       const PlanRequest& request) {
  std::vector<Method> methods;
  for (const KernelFamily& family : kernel_families()) {
    if (!allows(request, family)) continue;
    const std::span<const int> depths =
        request.fuse ? std::span<const int>(&*request.fuse, 1) : family.depths(device);
    for (const int fuse : depths)
      methods.emplace_back(fuse, family.unit, family.layout,
                           family.layout == Layout::separable
                               ? request.dropped.value_or(dropped_share(precision, fuse, request))
                               : 0.0);
  }
  return methods;
}

std::variant<Candidate, Refusal> evaluated(const Problem& problem, const DeviceModel& device,
                                           const Method& method, const PlanRequest& request) {
  if (auto refusal = why_rejected(problem, device, method, request)) return *refusal;
  Candidate candidate = evaluate(problem, device, method);
  if (!candidate.no_kernel.empty()) return Refusal{Obstacle::no_kernel, candidate.no_kernel};
  return candidate;
}

void add_method(Plan& plan, const Method& method, Precision precision,
                std::variant<Candidate, Refusal> found) {
  if (auto* refusal = std::get_if<Refusal>(&found))
    plan.rejected.push_back({method, precision, std::move(*refusal)});
  else
    plan.candidates.push_back(std::get<Candidate>(std::move(found)));
}

}  // namespace spsolve
