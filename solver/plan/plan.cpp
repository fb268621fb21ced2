// SPDX-License-Identifier: Apache-2.0
#include "solver/plan/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/error.hpp"
#include "kernels/sparse/accuracy.hpp"
#include "solver/plan/considered_methods.hpp"
#include "solver/plan/kernel_family.hpp"
#include "solver/plan/plan_of_equations.hpp"

namespace spsolve {
namespace {

constexpr double hopeless = 3;  // candidates this many times slower than the fastest are not worth timing

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

/// Adds every method in every precision to the plan, as a candidate or with the obstacle that rules it out.
void find_candidates(Plan& plan, const Problem& problem, const DeviceModel& device,
                     const PlanRequest& request) {
  for (const Precision precision : precisions_of(problem, request)) {
    Problem in_precision = problem;
    in_precision.precision = precision;
    for (const Method& method : considered_methods(precision, device, request))
      add_method(plan, method, precision, evaluated(in_precision, device, method, request));
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
      return "the rooflines and the plan, which knows more limits, disagree on the sweet spot";
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

std::vector<std::string> reasons_for(const Plan& plan, const Problem& problem, const PlanRequest& request) {
  const Candidate& chosen = plan.chosen;
  std::string text = "chosen:     " + line_of(chosen);
  if (asked_for(request) || request.fuse) text += "; as far as it was asked for";
  if (request.accuracy)
    text += fmt::format("; {} keeps the accepted error of {:.1e} (bound at step {}: {:.1e})",
                        to_string(chosen.precision), *request.accuracy, steps_of(request.events),
                        run_error(problem, chosen, request.events));
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

/// Returns true if a candidate rounds to its precision in every step, not once per launch.
bool rounds_every_step(const Candidate& candidate) {
  return !candidate.fused_weights() && storage_bytes(candidate.precision) > 2;
}

/// Leaves out the candidates that do not keep the accepted accuracy. Throws Error if nothing is left.
void leave_out_inaccurate(Plan& plan, const Problem& problem, const PlanRequest& request) {
  std::vector<Candidate> accepted;
  double least = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : plan.candidates) {
    const double error = run_error(problem, candidate, request.events);
    least = std::min(least, error);
    if (error <= *request.accuracy)
      accepted.push_back(candidate);
    else
      plan.rejected.push_back(
          {candidate,
           candidate.precision,
           {Obstacle::accuracy, fmt::format("the bound on its error at step {} is {:.2e}, {:g} is accepted",
                                            steps_of(request.events), error, *request.accuracy)}});
  }
  if (accepted.empty())
    throw Error(InputKey{"compute", "accuracy"},
                fmt::format(" = {:g}: nothing keeps it; the smallest bound on the relative error at step {} "
                            "is {:.2e}; {}",
                            *request.accuracy, steps_of(request.events), least,
                            fmt::join(describe(plan.rejected), "; ")));
  plan.candidates = std::move(accepted);
}

}  // namespace

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
  if (rounds_every_step(candidate)) return rest(1);
  // An event in the middle of a launch leaves two remainders and may want its last step alone.
  return mean_of_period(events, candidate.fuse, candidate.error, rest) +
         (candidate.fuse > 1 ? 3 * events.cuts * rest(candidate.fuse) : 0.0);
}

double run_error(const Problem& problem, const Candidate& candidate, const EventPattern& events) {
  // Errors of launches are shares of sum |w^t| times the norm. Sums with a source hold up to three times as
  // much: it is the difference of a step and the sum without it.
  const double largest = std::max(1.0, sum_abs(problem.stencil)),
               share = std::pow(largest, rounds_every_step(candidate) ? 1 : candidate.fuse) *
                       (problem.has_source ? 3 : 1);
  return unit_roundoff(candidate.precision) + share * candidate.error * static_cast<double>(steps_of(events));
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
  if (request.accuracy) leave_out_inaccurate(plan, problem, request);
  // The smallest of equally good depths is taken, because its halos are thinner.
  const Candidate& best = *fastest(plan.candidates, [](const Candidate&) { return true; });
  plan.chosen = best;
  for (const Candidate& candidate : plan.candidates)
    if (candidate.seconds <= as_good * best.seconds && are_alike(candidate, best) &&
        candidate.fuse < plan.chosen.fuse)
      plan.chosen = candidate;
  plan.reasons = reasons_for(plan, problem, request);
  return plan;
}

bool is_same_method(const Candidate& a, const Candidate& b) { return are_alike(a, b) && a.fuse == b.fuse; }

std::vector<Candidate> best_candidates(const Plan& plan, std::size_t count) {
  std::vector<Candidate> sorted = plan.candidates, first, others, last;
  std::ranges::stable_sort(sorted, {}, &Candidate::seconds);
  const auto near = [&](const Candidate& a, const Candidate& b) {
    return are_alike(a, b) && 4 * std::max(a.fuse, b.fuse) < 5 * std::min(a.fuse, b.fuse);
  };
  const auto among = [](const std::vector<Candidate>& list, const Candidate& candidate, auto&& relation) {
    return std::ranges::any_of(list, [&](const Candidate& other) { return relation(other, candidate); });
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
