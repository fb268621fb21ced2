// SPDX-License-Identifier: Apache-2.0
#include "solver/plan/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/sparse/accuracy.hpp"
#include "kernels/wall_reflections.hpp"
#include "solver/plan/kernel_family.hpp"
#include "solver/plan/model_of_equations.hpp"
#include "solver/plan/model_parts.hpp"

namespace spsolve {
namespace {

/// Returns the seconds of the launch that fills halos with periodic copies and reflections, on a rank that
/// has whole axes. Planes and rows count by their bytes, the ends of rows by their number.
double copy_seconds(const Problem& problem, const DeviceModel& device, const Candidate& candidate) {
  if (!device.gpu) return 0;
  const bool line = problem.domain.dimensions == 1 && !candidate.fused_weights();
  const Calibration& costs = device.costs();
  const double start = costs.launch.image_start +
                       (line ? 0 : costs.launch.image_start_filled * utilization(problem.domain, costs));
  const Domain& domain = problem.domain;
  const auto points = static_cast<double>(domain.box().points());
  double seconds = 0;
  for (int axis = domain.first_axis(); axis < axis_count; ++axis) {
    if (!domain.has_periodic_copies(axis, candidate.wraps) || problem.stencil.radius()[axis] == 0) continue;
    const double across = points / static_cast<double>(domain.shape[axis]);
    const double copied = 2 * across * static_cast<double>(candidate.fuse * problem.stencil.radius()[axis]);
    seconds = std::max(seconds, start);
    if (axis != x_axis || domain.dimensions == 1)
      seconds += 2 * copied * static_cast<double>(storage_bytes(problem.precision)) /
                 (costs.launch.image_bandwidth * device.bandwidth);
    else
      seconds += 2 * across * costs.launch.row_end * costs.rates.bandwidth / device.bandwidth;
  }
  return seconds;
}

/// Bounds the error of a launch (accuracy.hpp). Fused weights do not hold beside walls: the scalar unit takes
/// the steps there. Each unit errs within its own bound on its own part of the field.
double launch_error(const Problem& problem, const Method& method) {
  const auto scalar = [&] { return scalar_error(problem.stencil, method.fuse, problem.precision).total(); };
  if (!method.fused_weights()) return scalar();
  const double sweep = sweep_error(fuse_steps(problem.stencil, method.fuse), problem.precision,
                                   method.layout.value(), method.dropped)
                           .total();
  return problem.domain.has_walls() ? std::hypot(sweep, scalar()) : sweep;
}

/// Returns the problem as the sweep of a method sees it: axes with reflections are treated as periodic.
Problem as_swept(Problem problem, const Method& method) {
  if (!method.fused_weights()) return problem;
  problem.domain = with_wall_reflections(problem.domain, problem.stencil, method.fuse, problem.precision);
  for (int axis = 0; axis < axis_count; ++axis)
    if (problem.domain.reflected[axis]) problem.domain.faces[axis] = {};
  return problem;
}

}  // namespace

std::optional<Refusal> why_no_kernel(const Problem& problem, const DeviceModel& device,
                                     const Method& method) {
  const auto found = family_of(problem, device, method);
  const auto* refusal = std::get_if<Refusal>(&found);
  return refusal ? std::optional(*refusal) : std::nullopt;
}

std::optional<Refusal> why_no_promise(const Problem& problem, const Method& method) {
  constexpr double allowance = 1.3;  // the estimate may be off by this factor
  if (problem.precision != Precision::fp32 || !method.fused_weights()) return {};
  const ErrorOverScalar error =
      fp32_error_over_scalar(problem.stencil, method.fuse, method.layout.value(), method.dropped);
  const double most = allowance * std::max(error.launch, error.run);
  if (most <= promised_over_scalar) return {};
  return Refusal{
      Obstacle::promise,
      fmt::format("it would err by up to {:.3g} times what single steps do, and fp32 promises {:g} "
                  "times; compute.accuracy may accept more",
                  most, promised_over_scalar)};
}

Candidate evaluate(const Problem& given, const DeviceModel& device, const Method& method) {
  if (given.equations && (method.strided || !method.fused_weights()))
    return EquationsModel(given, device).evaluate(method);
  const Problem problem = as_swept(given, method);
  Candidate candidate{method};
  candidate.precision = problem.precision;
  const Calibration::Launches& costs = device.costs().launch;
  const double start =
      device.launch_seconds *
      (device.gpu ? costs.start + costs.start_filled * utilization(problem.domain, device.costs()) : 1);
  candidate.launch_seconds = start / method.fuse / static_cast<double>(problem.domain.box().points());
  const auto family = family_of(problem, device, method);
  if (const auto* refusal = std::get_if<Refusal>(&family)) {
    candidate.no_kernel = refusal->why;
    candidate.seconds = std::numeric_limits<double>::infinity();
    return candidate;
  }
  std::get<const KernelFamily*>(family)->evaluate(problem, device, candidate);
  if (!candidate.no_kernel.empty()) return candidate;
  candidate.error = launch_error(problem, method) / method.fuse;
  candidate.copy_seconds = copy_seconds(problem, device, candidate) / method.fuse /
                           static_cast<double>(problem.domain.box().points());
  candidate.launch_seconds += candidate.copy_seconds;
  candidate.seconds += candidate.launch_seconds;
  candidate.bound = 2 * candidate.launch_seconds > candidate.seconds ? "launch"
                    : 2 * candidate.wall_seconds > candidate.seconds ? "walls"
                    : candidate.shared_seconds > std::max(candidate.compute_seconds, candidate.memory_seconds)
                        ? "shared"
                    : candidate.compute_seconds > candidate.memory_seconds ? "compute"
                                                                           : "memory";
  if (candidate.fused_weights() && device.gpu && !given.equations)
    candidate.spot = compare(candidate, evaluate(given, device, Method(method.fuse)));
  return candidate;
}

}  // namespace spsolve
