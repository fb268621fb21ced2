// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "kernels/error.hpp"
#include "kernels/sparse/accuracy.hpp"
#include "kernels/strides/stride_weights.hpp"
#include "kernels/wall_reflections.hpp"
#include "solver/plan/considered_methods.hpp"
#include "solver/plan/plan_of_equations.hpp"
#include "solver/plan/stride_error.hpp"
#include "solver/plan/strided_equation.hpp"

namespace spsolve {
namespace {

/// A stride with more weights takes CUDA cores longer than the steps that it replaces.
constexpr std::size_t max_scalar_weights = 400;
/// Two equal roots at 1 differ by the square root of a rounding.
constexpr double merged_roots = 1e-6;

Refusal none(std::string why) { return {Obstacle::no_kernel, std::move(why)}; }

/// Returns a stride of several steps in the form in which the model knows it: a launch of one step of a
/// single field, with a source. Axes with reflections are treated as periodic: if there are any, the grid is
/// treated as periodic.
Problem as_single_field(const Problem& problem, const Stencil& weights, Domain domain) {
  for (int axis = 0; axis < axis_count; ++axis)
    if (domain.reflected[axis]) domain.faces[axis] = {};
  domain.reflected = {};
  return {domain, weights, problem.precision, true};
}

/// Converts the numbers of a launch of one field into those of a step. Two of these launches take `steps`
/// steps.
void per_step(Candidate& candidate, int steps) {
  for (double* number : {&candidate.bytes, &candidate.fma, &candidate.memory_seconds,
                         &candidate.compute_seconds, &candidate.shared_seconds, &candidate.wall_seconds,
                         &candidate.launch_seconds, &candidate.copy_seconds, &candidate.seconds})
    *number *= 2.0 / steps;
  candidate.fuse = steps;
  candidate.strided = true;
}

/// Evaluates strides of one equation.
class Strides {
 public:
  Strides(const Problem& problem, const DeviceModel& device, const PlanRequest& request,
          const TwoLevelEquation& equation)
      : problem_(problem),
        device_(device),
        request_(request),
        equation_(equation),
        growth_(growth_of(equation)) {}

  /// Returns a method with its numbers, or the reason why there is none.
  std::variant<Candidate, Refusal> evaluated(const Method& method) const {
    const int steps = method.fuse;
    if (auto refusal = refusal_of(method)) return *refusal;
    const Domain domain = stride_domain(problem_, steps);
    if (const std::string axis = axis_without_reflections(domain); !axis.empty())
      return none(
          fmt::format("a stride of several steps is not exact beside the walls of {}: it needs neumann or {{ "
                      "value = 0 }} "
                      "walls with symmetric weights, or {{ dirichlet = 0 }} walls with symmetric weights of "
                      "radius 1, and "
                      "a grid as wide as it reaches",
                      axis));
    const StrideLeapfrog stride = stride_leapfrog(equation_.s, equation_.q, steps);
    const Stencil& weights = stride.now;
    const Problem single_field = as_single_field(problem_, weights, domain);
    const Method launch(1, method.unit, method.layout, method.dropped);
    if (auto refusal = why_no_kernel(single_field, device_, launch)) return *refusal;
    if (auto refusal = refusal_of(method, weights)) return *refusal;
    Candidate candidate = evaluate(single_field, device_, launch);
    if (!candidate.no_kernel.empty()) return none(candidate.no_kernel);
    per_step(candidate, steps);
    candidate.redundancy =
        static_cast<double>(weights.taps().size()) / static_cast<double>(steps * equation_.s.taps().size());
    const StridedRun run = run_of(steps);
    const double error = strided_error(equation_, method, problem_.precision, run);
    candidate.error = error / static_cast<double>(run.steps);
    if (auto refusal = why_no_promise(method, stride, run); refusal && !request_.unpromised) return *refusal;
    return candidate;
  }

  /// Returns the additional seconds of the first launch of strides, as a mean over all steps.
  double begin_seconds(const Candidate& candidate) const {
    return candidate.seconds * candidate.fuse / static_cast<double>(run_of(candidate.fuse).begun_every);
  }

 private:
  /// Returns the run as strides of `steps` steps divide it. Strides start anew after checkpoints, and after
  /// the single steps before events that are not at multiples of `steps`.
  StridedRun run_of(int steps) const {
    const EventPattern& events = request_.events;
    StridedRun run;
    if (events.steps > 0) run.steps = events.steps;
    run.begun_every = run.steps;
    if (events.checkpoints > 0) run.begun_every = std::min(run.begun_every, events.checkpoints);
    if (events.every % steps != 0) run.begun_every = std::min(run.begun_every, events.every);
    return run;
  }
  /// Returns the reason to refuse a method that is known before the weights of a stride are computed.
  std::optional<Refusal> refusal_of(const Method& method) const {
    if (!device_.gpu && !method.layout)
      return none("CPUs take strides by emulated tensor cores alone, to examine them");
    if (!(growth_.largest_root < 1 + merged_roots) || growth_.of_difference > 1)
      return none(
          fmt::format("the equation amplifies a wave {:.6g} times per step, so that there is no bound "
                      "for rounding errors",
                      growth_.largest_root));
    if (storage_bytes(problem_.precision) == 2)
      return none(fmt::format("sweeps add sources in fp32, and strides in {} would need one in {}",
                              to_string(problem_.precision), to_string(problem_.precision)));
    const std::int64_t points = volume(2 * method.fuse * equation_.s.radius() + Index3{1, 1, 1});
    if (points > max_fused_weights)
      return Refusal{Obstacle::memory,
                     fmt::format("a stride would span {} points, {} at most", points, max_fused_weights)};
    if (!request_.fuse && request_.events.every > 0 && method.fuse > request_.events.every)
      return Refusal{Obstacle::depth,
                     fmt::format("an event ends launches every {} steps", request_.events.every)};
    return {};
  }
  std::optional<Refusal> refusal_of(const Method& method, const Stencil& weights) const {
    const bool asked = asked_for(request_);
    if (!method.layout && weights.taps().size() > max_scalar_weights && !asked)
      return Refusal{Obstacle::depth, fmt::format("a stride has {} weights; CUDA cores take up to {}",
                                                  weights.taps().size(), max_scalar_weights)};
    if (!method.layout || method.layout == Layout::separable || !device_.gpu || asked) return {};
    return why_too_wide(tap_box(weights).extent(), problem_.domain);
  }
  std::optional<Refusal> why_no_promise(const Method& method, const StrideLeapfrog& stride,
                                        const StridedRun& run) const {
    const double growth = growth_by_rounding(stride, method, problem_.precision, run.steps);
    if (growth > promised_over_scalar)
      return Refusal{
          Obstacle::promise,
          fmt::format("as weights are rounded, waves might grow up to {:.3g} times in {} steps, and "
                      "strides promise {:g} times",
                      growth, run.steps, promised_over_scalar)};
    const double error = strided_error(equation_, method, problem_.precision, run, Roundings::probable),
                 single = single_steps_error(equation_, problem_.precision, run.steps, Roundings::probable);
    if (error <= promised_over_scalar * single) return {};
    return Refusal{
        Obstacle::promise,
        fmt::format("in {} steps it would err by up to {:.2g} of the field's norm, {:.3g} times what single "
                    "steps do ({:.2g}), and strides promise {:g} times",
                    run.steps, error, error / single, single, promised_over_scalar)};
  }

  const Problem& problem_;
  const DeviceModel& device_;
  const PlanRequest& request_;
  TwoLevelEquation equation_;
  TwoLevelGrowth growth_;
};

}  // namespace

void add_strides(Plan& plan, const Problem& problem, const DeviceModel& device, const PlanRequest& request,
                 double single) {
  const auto found = strided_equation(problem);
  std::optional<Strides> strides;
  if (const auto* equation = std::get_if<TwoLevelEquation>(&found))
    strides.emplace(problem, device, request, *equation);
  add_sweeps(
      plan, problem, device, request, true, [&](const Method& method) -> std::variant<Candidate, Refusal> {
        if (!strides)
          return none("strides take one equation with two time levels and constant weights: " +
                      std::get<std::string>(found));
        auto made = strides->evaluated(method);
        if (auto* candidate = std::get_if<Candidate>(&made))
          candidate->seconds =
              mean_with_single_steps(request.events, *candidate, single) + strides->begin_seconds(*candidate);
        return made;
      });
}

}  // namespace spsolve
