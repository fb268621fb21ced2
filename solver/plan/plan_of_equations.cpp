// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "kernels/error.hpp"
#include "solver/plan/considered_methods.hpp"
#include "solver/plan/kernel_family.hpp"
#include "solver/plan/model_of_equations.hpp"
#include "solver/plan/plan_of_equations.hpp"
#include "solver/plan/strided_equation.hpp"

namespace spsolve {

namespace {

// Limits the steps per launch that are considered. On GPUs most tiles have room for fewer.
constexpr int max_fused_on_cpu = 8, max_fused_on_gpu = 24;

}  // namespace

double mean_with_single_steps(const EventPattern& events, const Candidate& candidate, double single) {
  return mean_of_period(events, candidate.fuse, candidate.seconds, [&](int steps) { return steps * single; });
}

namespace {

std::string summary_of(const Candidate& candidate) {
  return fmt::format("{}, {} {} per launch: {:.4g} GStencil/s, bound by {}", describe(candidate),
                     candidate.fuse, candidate.fuse == 1 ? "step" : "steps", 1e-9 / candidate.seconds,
                     candidate.bound);
}

/// Adds marches of single and of several steps, `deepest` at most.
void add_marches(Plan& plan, const EquationsModel& model, const PlanRequest& request,
                 const std::optional<int>& asked, double single, int deepest) {
  const int first = asked.value_or(1), last = asked.value_or(deepest);
  for (int fuse = first; fuse <= last; ++fuse) {
    Candidate candidate = model.evaluate(Method(fuse));
    const auto leave_out = [&](Obstacle obstacle, const std::string& why) {
      plan.rejected.push_back({candidate, candidate.precision, {obstacle, why}});
    };
    if (!candidate.no_kernel.empty()) {
      leave_out(Obstacle::no_kernel, candidate.no_kernel);
    } else if (!asked && request.events.every > 0 && fuse > std::max<std::int64_t>(1, request.events.every)) {
      leave_out(Obstacle::depth, fmt::format("an event ends launches every {} steps", request.events.every));
    } else {
      candidate.seconds = mean_with_single_steps(request.events, candidate, single);
      plan.candidates.push_back(candidate);
    }
  }
}

/// Throws Error(invalid_input) if a request names something that equations cannot have.
void require_possible(const Problem& problem, const PlanRequest& request) {
  const auto found = strided_equation(problem);
  const auto* no_stride = std::get_if<std::string>(&found);
  const std::string no_sum = why_no_fused_weights(problem);
  const bool only_scalar = no_stride && !no_sum.empty();
  const auto refuse = [&](const InputKey& key, const std::string& value) {
    throw Error(key,
                fmt::format(" = {}: systems of equations are advanced by the scalar unit, and one equation "
                            "with constant weights by tensor cores: {}; leave it out, or \"auto\"",
                            value, problem.equations->stencil ? no_sum : *no_stride));
  };
  if (only_scalar && request.unit && *request.unit != UnitKind::scalar)
    refuse({"compute", "unit"}, fmt::format("\"{}\"", to_string(*request.unit)));
  if (only_scalar && request.layout)
    refuse({"compute", "layout"}, fmt::format("\"{}\"", to_string(*request.layout)));
  if (request.accuracy)
    throw Error(
        InputKey{"compute", "accuracy"},
        fmt::format(" = {:g}: there is no bound on the error of equations by which a precision could be "
                    "chosen; name one by [compute] precision, and leave accuracy out",
                    *request.accuracy));
}

/// Returns the error of a plan without candidates, with the reasons why methods were rejected. The error is
/// about the first of these keys that the request sets: fuse, layout, unit.
Error nothing_takes(const PlanRequest& request, const Plan& plan) {
  const auto error = [&](const InputKey& key, const std::string& value) {
    return Error(key,
                 fmt::format("{}: no method advances these equations with this unit, layout and depth; leave "
                             "[compute] unit, layout and [time] fuse out, or \"auto\": {}",
                             value, fmt::join(describe(plan.rejected), "; ")));
  };
  if (request.fuse) return error({"time", "fuse"}, fmt::format(" = {}", *request.fuse));
  if (request.layout)
    return error({"compute", "layout"}, fmt::format(" = \"{}\"", to_string(*request.layout)));
  if (request.unit) return error({"compute", "unit"}, fmt::format(" = \"{}\"", to_string(*request.unit)));
  return error({"compute", "unit"}, "");
}

}  // namespace

Plan plan_of_equations(const Problem& problem, const DeviceModel& device, const PlanRequest& given) {
  require_possible(problem, given);
  PlanRequest request = given;
  request.layout = layout_here(given.layout, device);
  // Fields with values one step before need no step alone at diagnostics.
  if (problem.keeps_previous()) request.events.last_alone = false;
  const bool scalar = request.unit.value_or(UnitKind::scalar) == UnitKind::scalar && !request.layout;
  // Single steps have the same bits on other devices, on which a run may be continued.
  std::optional<int> asked = request.fuse;
  const EquationsModel model(problem, device);
  if (asked && request.unpromised && !model.evaluate(Method(*asked)).no_kernel.empty()) asked = 1;
  Plan plan{device.gpu ? "cuda" : "cpu", device.measured};
  const double single = model.evaluate(Method(1)).seconds;
  if (scalar && !request.strided.value_or(false))
    add_marches(plan, model, request, asked, single, device.gpu ? max_fused_on_gpu : max_fused_on_cpu);
  if (!request.strided.value_or(false)) add_fused_weights(plan, problem, device, request, single);
  if (request.strided.value_or(true)) add_strides(plan, problem, device, request, single);
  if (plan.candidates.empty()) throw nothing_takes(request, plan);
  const Candidate& best = *fastest(plan.candidates, [](const Candidate&) { return true; });
  plan.chosen = *std::ranges::find_if(plan.candidates, [&](const Candidate& candidate) {
    return candidate.seconds <= as_good * best.seconds;
  });
  const bool is_asked = given.fuse || given.unit || given.layout;
  plan.reasons = {"chosen:     " + summary_of(plan.chosen) + (is_asked ? "; as it was asked for" : "")};
  const Candidate* march = fastest(
      plan.candidates, [&](const Candidate& c) { return plan.chosen.fused_weights() && !c.fused_weights(); });
  const Candidate* first = plan.candidates.front().fuse == 1 ? &plan.candidates.front() : nullptr;
  for (const Candidate* other : {first, march == first ? nullptr : march})
    if (other && !is_same_method(*other, plan.chosen))
      plan.reasons.push_back("instead of: " + summary_of(*other));
  return plan;
}

}  // namespace spsolve
