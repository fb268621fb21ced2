// SPDX-License-Identifier: Apache-2.0
#include "solver/plan/model.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/sparse/accuracy.hpp"
#include "kernels/sparse/emulation/emulated_sweep.hpp"
#include "kernels/wall_reflections.hpp"
#include "solver/plan/model_parts.hpp"

namespace spsolve {
namespace {

/// Seconds of the launch that fills halos with images, as a rank that has whole axes does it: of
/// planes and rows by their bytes, of the ends of rows by their number.
double copy_seconds(const Problem& problem, const DeviceModel& device, const Candidate& candidate) {
  if (!device.gpu) return 0;
  const bool line = problem.domain.dimensions == 1 && !candidate.fused_weights();
  const double start = 0.5e-6 + (line ? 0 : 2.3e-6 * filled(problem.domain));
  constexpr double row_end = 0.08e-9;  // measured on H200
  const Domain& domain = problem.domain;
  const auto points = static_cast<double>(domain.box().points());
  double seconds = 0;
  for (int axis = domain.first_axis(); axis < axis_count; ++axis) {
    if (!domain.has_periodic_copies(axis, candidate.wraps) || problem.stencil.radius()[axis] == 0) continue;
    const double across = points / static_cast<double>(domain.shape[axis]);
    const double images = 2 * across * static_cast<double>(candidate.fuse * problem.stencil.radius()[axis]);
    seconds = std::max(seconds, start);
    if (axis != x_axis || domain.dimensions == 1)
      seconds +=
          2 * images * static_cast<double>(storage_bytes(problem.precision)) / (0.6 * device.bandwidth);
    else
      seconds += 2 * across * row_end * nominal_gpu().bandwidth / device.bandwidth;
  }
  return seconds;
}

/// Of a launch (kernels/sparse/accuracy.hpp). Beside walls fused weights do not hold: the scalar unit takes
/// the steps there, and each unit errs within its own bound on its own part of the field.
double launch_error(const Problem& problem, const Method& method) {
  const auto scalar = [&] { return scalar_error(problem.stencil, method.fuse, problem.precision).total(); };
  if (!method.fused_weights()) return scalar();
  const double sweep = sweep_error(fuse_steps(problem.stencil, method.fuse), problem.precision,
                                   method.layout.value(), method.dropped)
                           .total();
  return problem.domain.has_walls() ? std::hypot(sweep, scalar()) : sweep;
}

/// The problem with walls only where a method has to do something about them: where there are images instead,
/// it is as on periodic axes.
Problem as_swept(Problem problem, const Method& method) {
  if (!method.fused_weights()) return problem;
  problem.domain = with_wall_reflections(problem.domain, problem.stencil, method.fuse, problem.precision);
  for (int axis = 0; axis < axis_count; ++axis)
    if (problem.domain.reflected[axis]) problem.domain.faces[axis] = {};
  return problem;
}

}  // namespace

bool has_kernel(const Problem& problem, const DeviceModel& device, const Method& method) {
  const std::optional<Layout> layout = method.layout;
  if (method.unit == UnitKind::scalar) return !layout;
  if (!layout || !supports(*layout, problem.precision)) return false;
  if ((problem.precision == Precision::fp64) != (method.unit == UnitKind::tensor) &&
      (problem.precision == Precision::fp64 || *layout == Layout::separable))
    return false;  // fp64 is dense only, separable sparse only
  const Index3 reach = method.fuse * problem.stencil.radius();
  if (method.fuse > 1 && volume(2 * reach + Index3{1, 1, 1}) > most_fused_weights) return false;
  // Weights that grow or decay so fast leave the range of numbers when they are fused.
  if (std::abs(method.fuse * std::log10(sum_abs(problem.stencil))) >
      (problem.precision == Precision::fp64 ? 200 : 30))
    return false;
  // The kernel of separable sweeps; the others take any reach.
  return !device.gpu || *layout != Layout::separable ||
         (reach[z_axis] <= 7 && std::max(reach[y_axis], reach[x_axis]) <= 40);
}

bool keeps_promise(const Problem& problem, const Method& method) {
  constexpr double allowance = 1.3;  // the estimate may be so far off
  if (problem.precision != Precision::fp32 || !method.fused_weights()) return true;
  const ErrorOverScalar error =
      fp32_error_over_scalar(problem.stencil, method.fuse, method.layout.value(), method.dropped);
  return allowance * std::max(error.launch, error.run) <= promised_over_scalar;
}

void evaluate_scalar(const Problem& problem, const DeviceModel& device, Candidate& candidate) {
  (device.gpu ? evaluate_on_gpu : evaluate_on_cpu)(problem, device, candidate);
  candidate.sparsity = static_cast<double>(problem.stencil.taps().size()) / candidate.fma;
}

Candidate evaluate(const Problem& given, const DeviceModel& device, const Method& method) {
  const Problem problem = as_swept(given, method);
  Candidate candidate{method};
  candidate.precision = problem.precision;
  const double start = device.launch_seconds * (device.gpu ? 0.9 + 0.1 * filled(problem.domain) : 1);
  candidate.launch_seconds = start / method.fuse / static_cast<double>(problem.domain.box().points());
  (method.fused_weights() ? evaluate_tensor : evaluate_scalar)(problem, device, candidate);
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
  return candidate;
}

}  // namespace spsolve
