// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "solver/plan/model_parts.hpp"

namespace spsolve {

/// The CPU unit streams tiles through the cache (kernels/cpu/cpu_unit.hpp). Memory is read and written once
/// per launch, and a tile of `side` points across the stream recomputes the halo of its intermediate steps.
void evaluate_on_cpu(const Problem& problem, const DeviceModel& device, Candidate& candidate) {
  const Calibration::Cpu& costs = device.costs().cpu;
  const auto element = static_cast<double>(storage_bytes(problem.precision));
  const double level_element = std::max(element, 4.0);  // 16-bit formats keep intermediate steps in fp32
  const Domain& domain = problem.domain;
  const Index3& radius = problem.stencil.radius();
  const int fuse = candidate.fuse;

  // `plane_points` are the points of one plane of a tile: all planes of all levels share the cache of a core.
  const int stream = domain.dimensions == 3 ? z_axis : y_axis;
  const double planes = fuse * (2.0 * static_cast<double>(radius[stream]) + 1.0) + 1.0;
  double plane_points = device.cache_bytes / device.cores / (planes * level_element);
  // Rows of tiles are as long as possible.
  const double row = std::clamp(plane_points, 1.0, static_cast<double>(domain.shape[x_axis]));
  double recomputed = 1.0;
  for (const int axis : {x_axis, y_axis}) {
    if (axis == stream || domain.shape[axis] == 1) continue;
    const double other_axes = domain.dimensions == 3 && axis == x_axis ? 0.5 : 1.0;
    const double side =
        std::clamp(std::pow(plane_points, other_axes), 1.0, static_cast<double>(domain.shape[axis]));
    recomputed *= 1.0 + static_cast<double>((fuse - 1) * radius[axis]) / side;
    plane_points /= side;
  }

  candidate.bytes = (1.0 + device.write_traffic) * element / fuse;
  if (problem.has_source) candidate.bytes += std::max(element, 4.0) / fuse;
  const auto taps = static_cast<double>(problem.stencil.taps().size());
  candidate.fma = taps * recomputed;
  candidate.compute_seconds =
      candidate.fma *
      ((fuse > 1 ? device.level_cost : 1.0) * (problem.precision == Precision::tf32 ? costs.rounding : 1.0) /
           device.scalar_rate(problem.precision) +
       (costs.row / taps + costs.row_tap) / row / device.cores);
  candidate.memory_seconds = candidate.bytes / device.bandwidth;
  // Loads and sums of one core overlap only in part: the longer time plus half of the shorter one was
  // measured.
  candidate.seconds = std::max(candidate.compute_seconds, candidate.memory_seconds) +
                      costs.shorter_shown * std::min(candidate.compute_seconds, candidate.memory_seconds);
}

}  // namespace spsolve
