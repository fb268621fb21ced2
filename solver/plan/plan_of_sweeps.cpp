// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <string>
#include <variant>

#include "solver/plan/considered_methods.hpp"
#include "solver/plan/plan_of_equations.hpp"

namespace spsolve {

void add_sweeps(Plan& plan, const Problem& problem, const DeviceModel& device, const PlanRequest& request,
                bool strided,
                const std::function<std::variant<Candidate, Refusal>(const Method&)>& evaluated) {
  if (!device.gpu && !asked_for(request)) return;
  for (Method method : considered_methods(problem.precision, device, request)) {
    method.strided = strided;
    if (!method.fused_weights() || (strided && method.fuse < 2)) continue;
    add_method(plan, method, problem.precision, evaluated(method));
  }
}

std::string why_no_fused_weights(const Problem& problem) {
  if (!problem.equations->stencil)
    return "a step is not one weighted sum, with constant weights, over a single field";
  if (problem.has_points) return "point sources or probes are worked on in every step";
  if (problem.has_general_walls()) return "a wall has a flux, a Robin condition, or a value that varies";
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
               auto found = evaluated(problem, device, method, request);
               if (auto* candidate = std::get_if<Candidate>(&found)) {
                 candidate->error = mean_error(problem, *candidate, request.events);
                 candidate->seconds = mean_with_single_steps(request.events, *candidate, single);
               }
               return found;
             });
}

}  // namespace spsolve
