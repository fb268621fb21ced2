// SPDX-License-Identifier: Apache-2.0
#include "solver/plan/kernel_family.hpp"
#include "solver/plan/plan_of_equations.hpp"

namespace spsolve {
namespace {

bool considered(const KernelFamily& family, const DeviceModel& device, const PlanRequest& request) {
  if (request.unit && request.unit != family.unit) return false;
  if (request.layout && request.layout != family.layout) return false;
  return device.gpu || request.unit || request.layout;
}

}  // namespace

void add_sweeps(Plan& plan, const Problem& problem, const DeviceModel& device, const PlanRequest& request,
                bool strided,
                const std::function<std::variant<Candidate, Refusal>(const Method&)>& evaluated) {
  for (const KernelFamily& family : kernel_families()) {
    if (!considered(family, device, request)) continue;
    const std::span<const int> depths =
        request.fuse ? std::span<const int>(&*request.fuse, 1) : family.depths(device);
    const double dropped = family.layout == Layout::separable
                               ? request.dropped.value_or(unit_roundoff(problem.precision) / 2)
                               : 0.0;
    for (const int steps : depths) {
      Method method(steps, family.unit, family.layout, dropped);
      method.strided = strided;
      if (!method.fused_weights() || (strided && steps < 2)) continue;
      auto made = evaluated(method);
      if (auto* refusal = std::get_if<Refusal>(&made))
        plan.rejected.push_back({method, problem.precision, std::move(*refusal)});
      else
        plan.candidates.push_back(std::get<Candidate>(std::move(made)));
    }
  }
}

std::string why_no_fused_weights(const Problem& problem) {
  if (!problem.equations->stencil)
    return "a step is not one weighted sum, with constant weights, over a single field";
  if (problem.has_points) return "point sources or probes are worked on in every step";
  if (problem.domain.has_filled_faces())
    return "a wall has a flux, a Robin condition, or a value that varies";
  return "";
}

void add_fused_weights(Plan& plan, const Problem& problem, const DeviceModel& device,
                       const PlanRequest& request, double single) {
  if (!problem.equations->stencil) return;
  const std::string why = why_no_fused_weights(problem);
  add_sweeps(plan, problem, device, request, false,
             [&](const Method& method) -> std::variant<Candidate, Refusal> {
               if (!why.empty())
                 return Refusal{Obstacle::no_kernel, "fused weights do not take these equations: " + why};
               if (auto refusal = why_rejected(problem, device, method, request)) return *refusal;
               Candidate candidate = evaluate(problem, device, method);
               if (!candidate.no_kernel.empty()) return Refusal{Obstacle::no_kernel, candidate.no_kernel};
               candidate.error = mean_error(problem, candidate, request.events);
               candidate.seconds = mean_with_single_steps(request.events, candidate, single);
               return candidate;
             });
}

}  // namespace spsolve
