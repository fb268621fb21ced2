// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "kernels/cpu/cpu_unit.hpp"
#include "kernels/cpu/make_tap_schedule.hpp"
#include "kernels/cpu/program_queries.hpp"
#include "kernels/cpu/system_unit.hpp"
#include "solver/plan/model_parts.hpp"

namespace spsolve {

namespace {

/// Describes what a launch of several steps computes more than once at the edges of tiles.
struct CpuTileShape {
  double recomputed = 1.0;  // times that a point is computed, on average
  double row = 1.0;         // points of a row of a tile
};

/// Returns the tiles of launches that keep `planes` planes of elements of `bytes` in the cache of each core.
CpuTileShape tiles_on_cpu(const Domain& domain, const Index3& radius, int fuse, const DeviceModel& device,
                          double planes, double bytes) {
  CpuTileShape tile;
  const int stream = domain.dimensions == 3 ? z_axis : y_axis;
  double plane_points = device.cache_bytes / device.cores / (planes * bytes);
  // Rows of tiles are as long as possible.
  tile.row = std::clamp(plane_points, 1.0, static_cast<double>(domain.shape[x_axis]));
  for (const int axis : {x_axis, y_axis}) {
    if (axis == stream || domain.shape[axis] == 1) continue;
    const double other_axes = domain.dimensions == 3 && axis == x_axis ? 0.5 : 1.0;
    const double side =
        std::clamp(std::pow(plane_points, other_axes), 1.0, static_cast<double>(domain.shape[axis]));
    tile.recomputed *= 1.0 + static_cast<double>((fuse - 1) * radius[axis]) / side;
    plane_points /= side;
  }
  return tile;
}

/// Returns the time of a launch whose loads and sums overlap only in part: the longer time plus half of the
/// shorter one was measured.
double overlapped_on_cpu(const DeviceModel& device, const Candidate& candidate) {
  return std::max(candidate.compute_seconds, candidate.memory_seconds) +
         device.costs().cpu.shorter_shown * std::min(candidate.compute_seconds, candidate.memory_seconds);
}

}  // namespace

/// The CPU unit streams tiles through the cache (kernels/cpu/cpu_unit.hpp). Memory is read and written once
/// per launch, and tiles recompute the halo of their intermediate steps.
void evaluate_on_cpu(const Problem& problem, const DeviceModel& device, Candidate& candidate) {
  const Calibration::Cpu& costs = device.costs().cpu;
  const auto element = static_cast<double>(storage_bytes(problem.precision));
  const double level_element = std::max(element, 4.0);  // 16-bit formats keep intermediate steps in fp32
  const Domain& domain = problem.domain;
  const Index3& radius = problem.stencil.radius();
  const int fuse = candidate.fuse;
  const int stream = domain.dimensions == 3 ? z_axis : y_axis;
  const auto planes = static_cast<double>(planes_of_stencil(fuse, radius[stream]));
  const CpuTileShape tile = tiles_on_cpu(domain, radius, fuse, device, planes, level_element);
  candidate.bytes = (1.0 + device.write_traffic) * element / fuse;
  if (problem.has_source) candidate.bytes += std::max(element, 4.0) / fuse;
  const auto taps = static_cast<double>(problem.stencil.taps().size());
  candidate.fma = taps * tile.recomputed;
  const bool in_groups =
      fuse == 1 && pays_in_groups(tap_offsets(problem.stencil, Axes(domain)), problem.precision);
  candidate.compute_seconds =
      candidate.fma * ((fuse > 1    ? device.level_cost
                        : in_groups ? costs.grouped_tap
                                    : 1.0) *
                           (problem.precision == Precision::tf32 ? costs.rounding : 1.0) /
                           device.scalar_rate(problem.precision) +
                       (costs.row / taps + costs.row_tap) / tile.row / device.cores);
  candidate.memory_seconds = candidate.bytes / device.bandwidth;
  candidate.seconds = overlapped_on_cpu(device, candidate);
}

void evaluate_system_on_cpu(const Problem& problem, const std::vector<StepProgram>& programs,
                            const DeviceModel& device, Candidate& candidate) {
  const Equations& equations = *problem.equations;
  if (candidate.fuse > 1) {
    const std::optional<NoKernel> none =
        problem.has_points
            ? NoKernel{"amounts are added to points, and points are recorded, after every step"}
            : CpuSystemUnit::why_single_steps(equations.facts, equations.domains);
    if (none) {
      candidate.no_kernel = none->why;
      return;
    }
  }
  const Calibration::Cpu& costs = device.costs().cpu;
  const Domain& domain = problem.domain;
  const int stream = domain.dimensions == 3 ? z_axis : y_axis;
  const Index3 radius = problem.radius();
  double operands = 0, planes = 0;
  for (const StepProgram& program : programs) {
    operands += static_cast<double>(operands_of(program));
    planes = std::max(planes, static_cast<double>(planes_of(program, stream, equations.facts, radius[stream],
                                                            candidate.fuse)));
  }
  const CpuTileShape tile = tiles_on_cpu(domain, radius, candidate.fuse, device, planes,
                                         static_cast<double>(storage_bytes(problem.precision)));
  candidate.fma = operands * tile.recomputed;
  const bool is_fused = candidate.fuse > 1;
  // The planes of 2D rings are rows, each at another distance from the next, so operands are located row by
  // row.
  const double row_seconds = costs.row + (is_fused && domain.dimensions == 2 ? costs.row_tap * operands : 0);
  candidate.compute_seconds = candidate.fma * costs.operand * (is_fused ? device.level_cost : 1.0) /
                                  device.scalar_rate(problem.precision) +
                              tile.recomputed * row_seconds / tile.row / device.cores;
  if (is_fused) candidate.launch_seconds *= 1 + costs.ring_launches;
  const double state_bytes = candidate.bytes * candidate.fuse * static_cast<double>(domain.box().points());
  if (state_bytes < device.cache_bytes) candidate.memory_seconds = 0;
  candidate.bound = candidate.compute_seconds > candidate.memory_seconds ? "compute" : "memory";
  // Single steps fetch what they read early enough to hide the shorter time.
  candidate.seconds = (candidate.fuse > 1 ? overlapped_on_cpu(device, candidate)
                                          : std::max(candidate.compute_seconds, candidate.memory_seconds)) +
                      candidate.launch_seconds;
}

}  // namespace spsolve
