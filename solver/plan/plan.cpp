// SPDX-License-Identifier: Apache-2.0
#include "solver/plan/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "kernels/error.hpp"
#include "kernels/sparse/accuracy.hpp"
#include "solver/plan/kernel_family.hpp"
#include "solver/plan/model_parts.hpp"
#include "solver/plan/plan_of_equations.hpp"

namespace spsolve {
namespace {

// These factors compare seconds in the model with those of the fastest.
constexpr double as_good = 1.01;  // how much slower a smaller depth may be
constexpr double hopeless = 3;    // not worth timing

/// Returns the share that terms of a separable sweep may drop: half of the rounding error of the format, or
/// of the accepted error.
double dropped_share(Precision precision, int fuse, const std::optional<double>& accuracy) {
  return std::max(unit_roundoff(precision), accuracy.value_or(0.0) * fuse) / 2;
}

/// Returns the problem's own precision and, if an accuracy is accepted, every coarser one. fp16 is never
/// taken unless asked for: its range ends at 65504.
std::vector<Precision> precisions_of(const Problem& problem, const PlanRequest& request) {
  if (request.precision) return {*request.precision};
  if (!request.accuracy) return {problem.precision};
  std::vector<Precision> coarser{problem.precision};
  for (const Precision precision : {Precision::fp32, Precision::tf32, Precision::bf16})
    if (unit_roundoff(precision) > unit_roundoff(problem.precision)) coarser.push_back(precision);
  return coarser;
}

bool asked_for(const PlanRequest& request) { return request.unit || request.layout; }

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

/// Returns true if a family is considered: tensor cores only if the device has them, or if they are asked
/// for.
bool considered(const KernelFamily& way, const DeviceModel& device, const PlanRequest& request) {
  if (request.unit && request.unit != way.unit) return false;
  if (request.layout && request.layout != way.layout) return false;
  return way.unit == UnitKind::scalar || device.gpu || asked_for(request);
}

}  // namespace

std::optional<Refusal> why_rejected(const Problem& problem, const DeviceModel& device, const Method& method,
                                    const PlanRequest& request) {
  if (auto none = why_no_kernel(problem, device, method)) return none;
  if (auto deep = why_too_deep(problem, device, method, request); deep && !insists(request, method))
    return deep;
  if (request.accuracy || request.unpromised) return {};
  return why_no_promise(problem, method);
}

namespace {

/// Adds every method in every precision to the plan, as a candidate or with the obstacle that rules it out.
void find_candidates(Plan& plan, const Problem& problem, const DeviceModel& device,
                     const PlanRequest& request) {
  for (const Precision precision : precisions_of(problem, request))
    for (const KernelFamily& way : kernel_families()) {
      if (!considered(way, device, request)) continue;
      Problem in_precision = problem;
      in_precision.precision = precision;
      const std::span<const int> depths =
          request.fuse ? std::span<const int>(&*request.fuse, 1) : way.depths(device);
      for (const int fuse : depths) {
        const bool separable = way.layout == Layout::separable;
        const Method method(
            fuse, way.unit, way.layout,
            separable ? request.dropped.value_or(dropped_share(precision, fuse, request.accuracy)) : 0.0);
        if (auto refusal = why_rejected(in_precision, device, method, request)) {
          plan.rejected.push_back({method, precision, std::move(*refusal)});
          continue;
        }
        const Candidate candidate = evaluate(in_precision, device, method);
        if (candidate.no_kernel.empty())
          plan.candidates.push_back(candidate);
        else
          plan.rejected.push_back({method, precision, {Obstacle::no_kernel, candidate.no_kernel}});
      }
    }
}

[[noreturn]] void fail_without_candidates(const Plan& plan, const Problem& problem, const DeviceModel& device,
                                          const PlanRequest& request) {
  std::string why = fmt::format(" = \"{}\", layout = \"{}\"", name_or(request.unit, "auto"),
                                name_or(request.layout, "auto"));
  if (request.fuse) why += fmt::format(", [time] fuse = {}", *request.fuse);
  why += fmt::format(": no method on {} advances this stencil in {} with these settings", device.name,
                     to_string(problem.precision));
  // A request that no family meets, such as a unit with a layout of another unit, leaves nothing out.
  if (plan.rejected.empty())
    why += request.unit == UnitKind::scalar && request.layout
               ? "; no kernel: the scalar unit has no layouts"
               : fmt::format(
                     "; no kernel: sparse-tensor takes strided-swap, morph and separable (few terms), "
                     "tensor the first two, and in fp64 {}",
                     to_string(fp64_layout(device.gpu)));
  throw Error(InputKey{"compute", "unit"}, fmt::format("{}{}{}", why, plan.rejected.empty() ? "" : "; ",
                                                       fmt::join(describe(plan.rejected), "; ")));
}

std::string describe_candidate(const Candidate& candidate) {
  std::string text = fmt::format("{}, {} {} per launch", describe(candidate), candidate.fuse,
                                 candidate.fuse == 1 ? "step" : "steps");
  if (candidate.terms)
    text += fmt::format(", {} separable {}", candidate.terms, candidate.terms == 1 ? "term" : "terms");
  return text;
}

constexpr const char* scenario_texts[] = {"", "1: memory-bound on CUDA cores and on tensor cores",
                                          "2: memory-bound on CUDA cores, compute-bound on tensor cores",
                                          "3: compute-bound on CUDA cores, memory-bound on tensor cores",
                                          "4: compute-bound on CUDA cores and on tensor cores"};

/// Returns a verdict as a part of a sentence on a candidate.
std::string_view sentence_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::inside:
      return "inside the sweet spot";
    case Verdict::outside:
      return "outside the sweet spot";
    case Verdict::equal:
      return "no gain over CUDA cores by the rooflines, as memory binds both";
    default:
      return "the criterion of the sweet spot errs, because other things than memory and instructions bind";
  }
}

bool are_alike(const Candidate& a, const Candidate& b) {
  return a.unit == b.unit && a.layout == b.layout && a.precision == b.precision && a.strided == b.strided;
}

/// Describes a candidate in one line: its rate and, on tensor cores, what paper 003 says of it.
std::string line_of(const Candidate& candidate) {
  std::string text = fmt::format("{}: {:.4g} GStencil/s, bound by {}", describe_candidate(candidate),
                                 1e-9 / candidate.seconds, candidate.bound);
  const SweetSpot& spot = candidate.spot;
  if (spot.scenario)
    text += fmt::format("; {} (scenario {}; CUDA cores x {:.3g} by the roofline, x {:.3g} by the plan)",
                        sentence_of(spot.verdict()), scenario_texts[spot.scenario], spot.speedup,
                        spot.modelled_speedup);
  return text;
}

std::vector<std::string> reasons_for(const Plan& plan, const PlanRequest& request) {
  const Candidate& chosen = plan.chosen;
  std::string text = "chosen:     " + line_of(chosen);
  if (asked_for(request) || request.fuse) text += "; as far as it was asked for";
  if (request.accuracy)
    text += fmt::format("; {} keeps the accepted error of {:.1e} per step (bound {:.1e})",
                        to_string(chosen.precision), *request.accuracy, chosen.error);
  std::vector<std::string> reasons{text};
  const Candidate* single_steps = fastest(plan.candidates, [&](const Candidate& c) {
    return chosen.fuse > 1 && c.fuse == 1 && are_alike(c, chosen);
  });
  const Candidate* runner_up = fastest(plan.candidates, [&](const Candidate& c) {
    return c.unit != chosen.unit || c.layout != chosen.layout;
  });
  const Candidate* other_kind = fastest(
      plan.candidates, [&](const Candidate& c) { return c.fused_weights() != chosen.fused_weights(); });
  for (const Candidate* other : {single_steps, runner_up, other_kind == runner_up ? nullptr : other_kind})
    if (other) reasons.push_back("instead of: " + line_of(*other));
  return reasons;
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

double mean_seconds(const Problem& problem, const DeviceModel& device, const Candidate& candidate,
                    const EventPattern& events) {
  Problem same = problem;
  same.precision = candidate.precision;
  return mean_of_period(events, candidate.fuse, candidate.seconds,
                        [&](int steps) { return steps * evaluate(same, device, Method(steps)).seconds; });
}

double mean_error(const Problem& problem, const Candidate& candidate, const EventPattern& events) {
  const auto rest = [&](int steps) {
    return scalar_error(problem.stencil, steps, candidate.precision).total();
  };
  // Cutting single steps into launches differently changes no bit, unless each launch rounds to storage.
  if (!candidate.fused_weights() && storage_bytes(candidate.precision) > 2) return rest(1);
  // An event in the middle of a launch leaves two remainders and may want its last step alone.
  return mean_of_period(events, candidate.fuse, candidate.error, rest) +
         (candidate.fuse > 1 ? 3 * events.cuts * rest(candidate.fuse) : 0.0);
}

Plan make_plan(const Problem& problem, const DeviceModel& device, const PlanRequest& requested) {
  if (problem.equations) return plan_of_equations(problem, device, requested);
  Plan plan{device.gpu ? "cuda" : "cpu", device.measured};
  PlanRequest request = requested;
  request.layout = layout_here(requested.layout, device);
  if (request.layout != requested.layout)
    plan.note =
        fmt::format("layout = \"{}\": here it is \"{}\", because {}", to_string(*requested.layout),
                    to_string(*request.layout),
                    device.gpu ? "the tessellation of ConvStencil is emulated on CPUs only; on GPUs the "
                                 "former name stood for dense slices in natural order"
                               : "CPUs emulate the tessellation of ConvStencil");
  find_candidates(plan, problem, device, request);
  if (plan.candidates.empty()) fail_without_candidates(plan, problem, device, request);
  for (Candidate& candidate : plan.candidates) {
    candidate.error = mean_error(problem, candidate, request.events);
    candidate.seconds = mean_seconds(problem, device, candidate, request.events);
  }
  const auto is_accepted = [&](const Candidate& candidate) {
    return !request.accuracy || candidate.error <= *request.accuracy;
  };
  for (const Candidate& candidate : plan.candidates)
    if (!is_accepted(candidate))
      plan.rejected.push_back(
          {candidate,
           candidate.precision,
           {Obstacle::accuracy, fmt::format("its error bound per step is {:.2e}, {:g} is accepted",
                                            candidate.error, *request.accuracy)}});
  if (std::ranges::none_of(plan.candidates, is_accepted))
    throw Error(InputKey{"compute", "accuracy"},
                fmt::format(" = {:g}: nothing keeps it; the smallest bound on the relative error per step is "
                            "{:.2e}; {}",
                            *request.accuracy, std::ranges::min(plan.candidates, {}, &Candidate::error).error,
                            fmt::join(describe(plan.rejected), "; ")));
  std::erase_if(plan.candidates, [&](const Candidate& candidate) { return !is_accepted(candidate); });
  // The smallest of equally good depths is taken, because its halos are thinner.
  const Candidate& best = *fastest(plan.candidates, [](const Candidate&) { return true; });
  plan.chosen = best;
  for (const Candidate& candidate : plan.candidates)
    if (candidate.seconds <= as_good * best.seconds && are_alike(candidate, best) &&
        candidate.fuse < plan.chosen.fuse)
      plan.chosen = candidate;
  plan.reasons = reasons_for(plan, request);
  return plan;
}

bool is_same_method(const Candidate& a, const Candidate& b) { return are_alike(a, b) && a.fuse == b.fuse; }

std::vector<Candidate> best_candidates(const Plan& plan, std::size_t count) {
  std::vector<Candidate> sorted = plan.candidates, first, others, last;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
  const auto near = [&](const Candidate& a, const Candidate& b) {
    return are_alike(a, b) && 4 * std::max(a.fuse, b.fuse) < 5 * std::min(a.fuse, b.fuse);
  };
  const auto among = [](const std::vector<Candidate>& list, const Candidate& candidate, auto&& relation) {
    return std::any_of(list.begin(), list.end(),
                       [&](const Candidate& other) { return relation(other, candidate); });
  };
  for (const Candidate& candidate : sorted) {
    if (among(first, candidate, near) || among(others, candidate, near) || among(last, candidate, are_alike))
      continue;
    const bool is_first = !among(first, candidate, are_alike);
    const bool slow = candidate.seconds > hopeless * sorted.front().seconds;
    (is_first && slow ? last : is_first ? first : others).push_back(candidate);
  }
  for (const auto& more : {others, last}) first.insert(first.end(), more.begin(), more.end());
  first.resize(std::min(count, first.size()));
  return first;
}

}  // namespace spsolve
