// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "kernels/cuda/scalar/march_tile.hpp"
#include "kernels/cuda/system/fused_tile.hpp"
#include "kernels/error.hpp"
#include "kernels/precision.hpp"
#include "solver/plan/kernel_family.hpp"
#include "solver/plan/model_of_march.hpp"
#include "solver/plan/model_parts.hpp"
#include "solver/plan/plan_of_equations.hpp"
#include "solver/plan/strided_equation.hpp"

namespace spsolve {

namespace {

// Limits the steps per launch that are considered: of systems, and of waves by marches of single fields.
constexpr int max_fused = 8, max_fused_waves = 24;
constexpr double as_good = 1.01;  // times as slow as the fastest, in the model: the smallest depth is taken

/// Adds the cost of a march of a single field that takes several steps of an equation with two time levels.
/// Returns false if there is none.
bool evaluate_two_levels(const Problem& problem, const DeviceModel& device, Candidate& candidate) {
  const auto found = strided_equation(problem);
  const auto* equation = std::get_if<TwoLevelEquation>(&found);
  if (!equation) return false;
  const Problem single{problem.domain_of(0), equation->s, problem.precision, true};
  const auto tile = cuda::two_level_tile(single.domain, single.stencil, single.precision, candidate.fuse,
                                         limits_of(device));
  if (!tile) return false;
  MarchModel march(single, device);
  march.stencil.two_levels = true;
  const double per_step = 1 / (static_cast<double>(single.domain.box().points()) * candidate.fuse);
  candidate.memory_seconds *= device.costs().march.two_fields_read;
  if (march.space()) candidate.memory_seconds *= device.costs().march.halos_read_again;
  candidate.compute_seconds = compute_seconds(march, march.shape, candidate.fuse) * per_step;
  candidate.fma = static_cast<double>(equation->s.taps().size());
  candidate.seconds = overlapped(device.costs(), {candidate.memory_seconds, candidate.compute_seconds});
  candidate.wall_seconds =
      wall_seconds(march, *tile, candidate.fuse, candidate.fuse, candidate.seconds / per_step) * per_step;
  candidate.seconds += candidate.wall_seconds + candidate.launch_seconds;
  candidate.bound = candidate.compute_seconds > candidate.memory_seconds ? "compute" : "memory";
  return true;
}

/// Adds the cost of a launch of several steps on overlapping tiles; if there is none, it says why.
void evaluate_fused(const Problem& problem, const DeviceModel& device, Candidate& candidate) {
  if (evaluate_two_levels(problem, device, candidate)) return;
  const Equations& equations = *problem.equations;
  const SystemFacts& facts = equations.facts;
  const auto made = cuda::fused_tile(equations.canonical, facts, equations.domains, problem.precision,
                                     candidate.fuse, limits_of(device));
  if (const auto* none = std::get_if<NoKernel>(&made)) {
    candidate.no_kernel = none->why;
    candidate.seconds = std::numeric_limits<double>::infinity();
    return;
  }
  const auto& tile = std::get<cuda::FusedTile>(made);
  // Is the number of fp32 multiply-adds that a multiprocessor takes in one cycle.
  constexpr double lanes = 128;
  const auto points = static_cast<double>(problem.domain.box().points());
  const double clock = device.scalar_fp32 / (lanes * device.multiprocessors);
  candidate.compute_seconds = cuda::fused_cycles(tile, problem.domain, problem.precision, limits_of(device)) /
                              (clock * points * candidate.fuse);
  candidate.fma = tile.operations;
  candidate.seconds =
      std::max(candidate.memory_seconds, candidate.compute_seconds) + candidate.launch_seconds;
  if (candidate.compute_seconds > candidate.memory_seconds) candidate.bound = "compute";
}

}  // namespace

/// Returns the candidate of a system of equations. A launch reads every field and coefficient once and writes
/// every field; a launch of several steps also writes previous values. Single steps on GPUs are assumed to be
/// limited by memory.
Candidate evaluate_equations(const Problem& problem, const DeviceModel& device, const Method& method) {
  Candidate candidate{method};
  candidate.precision = problem.precision;
  const SystemFacts& facts = problem.equations->facts;
  const auto value = static_cast<double>(storage_bytes(problem.precision));
  const auto before =
      method.fuse > 1 ? static_cast<double>(problem.state_count() - problem.field_count()) : 0.0;
  candidate.bytes =
      ((facts.fields_read + device.write_traffic * (facts.fields_written + before)) * value +
       facts.coefficients_read * static_cast<double>(storage_bytes(sum_precision(problem.precision)))) /
      method.fuse;
  candidate.memory_seconds = candidate.bytes / device.bandwidth;
  // Filled ghost points take a launch before every group of statements.
  const std::size_t launches = facts.groups.size() * (problem.equations->filled.empty() ? 1 : 2);
  candidate.launch_seconds = device.launch_seconds * static_cast<double>(launches) /
                             static_cast<double>(problem.domain.box().points()) / method.fuse;
  candidate.seconds = candidate.memory_seconds + candidate.launch_seconds;
  candidate.bound = candidate.launch_seconds > candidate.memory_seconds ? "launch" : "memory";
  if (!device.gpu)
    evaluate_system_on_cpu(problem, device, candidate);
  else if (method.fuse > 1)
    evaluate_fused(problem, device, candidate);
  if (!candidate.no_kernel.empty()) candidate.seconds = std::numeric_limits<double>::infinity();
  return candidate;
}

double at_pace(const Pace& pace, const Candidate& candidate, double single) {
  if (pace.every == 0 || candidate.fuse == 1) return candidate.seconds;
  const std::int64_t together = pace.every - pace.last_alone, left = together % candidate.fuse;
  return (static_cast<double>(together - left) * candidate.seconds +
          static_cast<double>(left + pace.last_alone) * single) /
         static_cast<double>(pace.every);
}

namespace {

std::string line_of(const Candidate& candidate) {
  return fmt::format("{}, {} {} per launch: {:.4g} GStencil/s, bound by {}", describe(candidate),
                     candidate.fuse, candidate.fuse == 1 ? "step" : "steps", 1e-9 / candidate.seconds,
                     candidate.bound);
}

/// Returns the most steps per launch that are worth a look.
int deepest(const Problem& problem, const DeviceModel& device) {
  if (!device.gpu) return max_fused;
  return std::holds_alternative<TwoLevelEquation>(strided_equation(problem)) ? max_fused_waves : max_fused;
}

/// Adds marches of single and of several steps.
void add_marches(Plan& plan, const Problem& problem, const DeviceModel& device, const PlanRequest& request,
                 const std::optional<int>& asked, double single) {
  const int first = asked.value_or(1), last = asked.value_or(deepest(problem, device));
  for (int fuse = first; fuse <= last; ++fuse) {
    Candidate candidate = evaluate_equations(problem, device, Method(fuse));
    const auto leave_out = [&](Obstacle obstacle, const std::string& why) {
      plan.rejected.push_back({candidate, candidate.precision, {obstacle, why}});
    };
    if (!candidate.no_kernel.empty()) {
      leave_out(Obstacle::no_kernel, candidate.no_kernel);
    } else if (!asked && request.pace.every > 0 && fuse > std::max<std::int64_t>(1, request.pace.every)) {
      leave_out(Obstacle::depth, fmt::format("an event ends launches every {} steps", request.pace.every));
    } else {
      candidate.seconds = at_pace(request.pace, candidate, single);
      plan.candidates.push_back(candidate);
    }
  }
}

/// Throws Error(invalid_input) if a request names something that equations cannot have.
void require_possible(const Problem& problem, const PlanRequest& request) {
  const auto found = strided_equation(problem);
  const auto* why = std::get_if<std::string>(&found);
  const auto refuse = [&](const InputKey& key, const std::string& value) {
    throw Error(
        key,
        fmt::format(
            " = {}: systems of equations are advanced by the scalar unit{}; leave it out, or \"auto\"", value,
            why ? ", and one equation with two time levels and constant weights by tensor cores: " + *why
                : ""));
  };
  if (why && request.unit && *request.unit != UnitKind::scalar)
    refuse({"compute", "unit"}, fmt::format("\"{}\"", to_string(*request.unit)));
  if (why && request.layout) refuse({"compute", "layout"}, fmt::format("\"{}\"", to_string(*request.layout)));
  if (request.accuracy) refuse({"compute", "accuracy"}, fmt::format("{:g}", *request.accuracy));
}

/// Returns the error of a plan without candidates, with the reason of each. It names the key that asks for
/// most.
Error nothing_takes(const PlanRequest& request, const Plan& plan) {
  const auto error = [&](const InputKey& key, const std::string& value) {
    return Error(key,
                 fmt::format("{}: nothing takes these equations with such a unit, layout and depth; leave "
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
  if (problem.keeps_previous()) request.pace.last_alone = false;
  const bool scalar = request.unit.value_or(UnitKind::scalar) == UnitKind::scalar && !request.layout;
  // Single steps have the same bits on other devices, on which a run may be continued.
  std::optional<int> asked = request.fuse;
  if (asked && request.unpromised && !evaluate_equations(problem, device, Method(*asked)).no_kernel.empty())
    asked = 1;
  Plan plan{device.gpu ? "cuda" : "cpu", device.measured};
  const double single = evaluate_equations(problem, device, Method(1)).seconds;
  if (scalar && !request.strided.value_or(false)) add_marches(plan, problem, device, request, asked, single);
  if (request.strided.value_or(true)) add_strides(plan, problem, device, request, single);
  if (plan.candidates.empty()) throw nothing_takes(request, plan);
  const Candidate& best = *fastest(plan.candidates, [](const Candidate&) { return true; });
  plan.chosen = *std::ranges::find_if(plan.candidates, [&](const Candidate& candidate) {
    return candidate.seconds <= as_good * best.seconds;
  });
  const bool is_asked = given.fuse || given.unit || given.layout;
  plan.reasons = {"chosen:     " + line_of(plan.chosen) + (is_asked ? "; as it was asked for" : "")};
  const Candidate* march =
      fastest(plan.candidates, [&](const Candidate& c) { return plan.chosen.strided && !c.strided; });
  const Candidate* first = plan.candidates.front().fuse == 1 ? &plan.candidates.front() : nullptr;
  for (const Candidate* other : {first, march == first ? nullptr : march})
    if (other && !is_same_method(*other, plan.chosen))
      plan.reasons.push_back("instead of: " + line_of(*other));
  return plan;
}

}  // namespace spsolve
