// SPDX-License-Identifier: Apache-2.0
// This file models sweeps with fused weights on tensor cores, for all their kernels.
#include <algorithm>
#include <limits>

#include "solver/plan/kernel_family.hpp"
#include "solver/plan/model_parts.hpp"

namespace spsolve {
namespace {

/// Returns the part of a grid that a sweep takes: the points farther from walls than its reach.
Domain inside(Domain domain, const Index3& reach) {
  for (int axis = 0; axis < axis_count; ++axis)
    if (!domain.periodic(axis))
      domain.shape[axis] = std::max<std::int64_t>(1, domain.shape[axis] - 2 * reach[axis]);
  return domain;
}

}  // namespace

void evaluate_sweep(const Problem& problem, const DeviceModel& device, CountWork count,
                    Candidate& candidate) {
  const Stencil fused = fuse_steps(problem.stencil, candidate.fuse);
  const Domain core = inside(problem.domain, candidate.fuse * problem.stencil.radius());
  const auto found = count(problem, candidate, fused, core, device);
  if (const auto* none = std::get_if<NoKernel>(&found)) {
    candidate.no_kernel = none->why;
    candidate.seconds = std::numeric_limits<double>::infinity();
    return;
  }
  const auto& work = std::get<cuda::SweepWork>(found);
  const auto element = static_cast<double>(storage_bytes(problem.precision));
  const auto taps = static_cast<double>(problem.stencil.taps().size());
  const auto fused_taps = static_cast<double>(fused.taps().size());
  const double steps = candidate.fuse, points = static_cast<double>(problem.domain.box().points());
  candidate.terms = work.terms;
  const double source = problem.has_source ? std::max(element, 4.0) : 0.0;
  candidate.bytes = (2 * element + source) / steps;
  candidate.fma = work.fma / steps;
  candidate.redundancy = fused_taps / (steps * taps);
  candidate.sparsity = fused_taps / work.fma;
  candidate.peak = device.gpu ? work.ceiling : 2 * device.costs().cpu.emulated_fma;
  candidate.ridge = candidate.peak / ceilings_of(device).copy;
  if (!device.gpu) {  // emulated: about 2e8 multiply-adds/s
    candidate.compute_seconds = candidate.fma / device.costs().cpu.emulated_fma;
    candidate.memory_seconds = candidate.bytes / device.bandwidth;
    candidate.seconds = candidate.compute_seconds;
    return;
  }
  const double taken = static_cast<double>(core.box().points()) / points / steps;
  const double fetched = 2 * element + (work.source_ahead ? source : 0);
  candidate.memory_seconds = fetched * work.memory_cost / device.bandwidth * taken;
  candidate.compute_seconds = work.seconds * taken;
  candidate.shared_seconds = work.shared_seconds * taken;
  const double sweep =
      work.latency / (points * steps) +
      (work.source_ahead ? 0 : source * work.source_cost / device.bandwidth / steps) +
      (work.is_serial ? candidate.memory_seconds + candidate.compute_seconds
                      : overlapped(device.costs(), {candidate.memory_seconds, candidate.compute_seconds,
                                                    candidate.shared_seconds}));
  const auto walls = std::count_if(core.faces.begin(), core.faces.end(),
                                   [](const auto& faces) { return faces[0].kind != BoundaryKind::periodic; });
  const double scale =
      work.scales_data ? 2 * static_cast<double>(walls) * device.costs().bands.largest / (points * steps) : 0;
  const double bands = cuda::band_seconds(march_model_of(problem, device), candidate.fuse) / (points * steps);
  // Sweep and bands run at the same time if the sweep leaves room: in 1D the ends of the grid take two
  // blocks.
  const double room = problem.domain.dimensions == 1
                          ? device.costs().bands.hidden_line
                          : 1 - utilization(problem.domain, device.costs().bands.enough_points);
  candidate.seconds = sweep + scale + bands - room * std::min(sweep, bands);
  candidate.wall_seconds = candidate.seconds - sweep - scale;
}

}  // namespace spsolve
