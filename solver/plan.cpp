// SPDX-License-Identifier: Apache-2.0
#include "solver/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/error.hpp"
#ifdef SPSOLVE_CUDA
#include "kernels/cuda/tile.hpp"
#endif

namespace spsolve {
namespace {

constexpr int deepest =
    16;  // beyond it the halo of a tile costs more than memory traffic saves, on any cache

/// The scalar unit streams tiles through the cache (kernels/cpu_unit.hpp): memory is read and written once
/// per launch, and a tile of `side` points across the stream recomputes the halo of its intermediate steps.
Candidate scalar_candidate(const Problem& problem, const DeviceModel& device, int fuse) {
  const auto element = static_cast<double>(storage_bytes(problem.precision));
  const double level_element = std::max(element, 4.0);  // 16-bit formats keep intermediate steps in fp32
  const Domain& domain = problem.domain;
  const Index3& radius = problem.stencil.radius();
  Candidate candidate{{fuse}};

  // Points of one plane of a tile: all planes of all levels share the cache of a core.
  const int stream = domain.dimensions == 3 ? z_axis : y_axis;
  const double planes = fuse * (2.0 * static_cast<double>(radius[stream]) + 1.0) + 1.0;
  double plane_points = device.cache_bytes / device.cores / (planes * level_element);
  double recomputed = 1.0;
  for (const int axis : {x_axis, y_axis}) {
    if (axis == stream || domain.shape[axis] == 1) continue;
    const double other_axes = domain.dimensions == 3 && axis == x_axis ? 0.5 : 1.0;
    const double side =
        std::clamp(std::pow(plane_points, other_axes), 1.0, static_cast<double>(domain.shape[axis]));
    recomputed *= 1.0 + static_cast<double>((fuse - 1) * radius[axis]) / side;
    plane_points /= side;
  }

  // One read and one write of the field per launch.
  candidate.bytes = (1.0 + device.write_traffic) * element / fuse;
  if (problem.has_source) candidate.bytes += std::max(element, 4.0) / fuse;
  candidate.fma = static_cast<double>(problem.stencil.taps().size()) * recomputed;
  const double rate = problem.precision == Precision::fp64 ? device.fma_fp64 : device.fma_fp32;
  const double compute = candidate.fma * (fuse > 1 ? device.level_cost : 1.0) / rate;
  const double memory = candidate.bytes / device.bandwidth;
  // Loads and sums of one core overlap in part only: the longer time and half of the shorter one were
  // measured.
  candidate.seconds = std::max(compute, memory) + 0.5 * std::min(compute, memory) +
                      device.launch_seconds / fuse / static_cast<double>(domain.box().points());
  candidate.bound = compute > memory ? "compute" : "memory";
  return candidate;
}

/// On GPUs the registers and shared memory of the kernels decide, which the model does not know: nothing
/// elsewhere.
std::optional<int> fastest_depth_of_kernels([[maybe_unused]] const Problem& problem,
                                            [[maybe_unused]] const DeviceModel& device) {
#ifdef SPSOLVE_CUDA
  if (device.name == "cuda") {
    constexpr std::size_t shared_bytes = 227 * 1024;  // of a block on sm_90
    const cuda::KernelStencil stencil(problem.domain, problem.stencil, problem.precision, problem.has_source);
    return std::max(1, cuda::preferred_depth(stencil, {problem.precision, true, true}, shared_bytes));
  }
#endif
  return std::nullopt;
}

}  // namespace

DeviceModel nominal_cpu() { return {"cpu", 34e9, 38e9, 76e9, 2 * 1024.0 * 1024.0, 2, 5e-6, 1, 1.25}; }

DeviceModel nominal_gpu() { return {"cuda", 4.1e12, 15e12, 32e12, 132 * 227.0 * 1024.0, 132, 5e-6, 1, 1.0}; }

Plan make_plan(const Problem& problem, const DeviceModel& device, const PlanRequest& request) {
  if (request.unit != "auto" && request.unit != "scalar")
    throw Error(Status::invalid_input,
                fmt::format("[compute] unit = \"{}\" is not available on device {}; use auto or scalar",
                            request.unit, device.name));
  if (request.layout != "auto")
    throw Error(
        Status::invalid_input,
        fmt::format("[compute] layout = \"{}\": the scalar unit has no layouts; use auto", request.layout));
  Plan plan{device.name, {}, {}};
  for (int fuse = 1; fuse <= deepest; ++fuse)
    plan.candidates.push_back(scalar_candidate(problem, device, fuse));
  if (const std::optional<int> fuse =
          request.fuse ? request.fuse : fastest_depth_of_kernels(problem, device)) {
    plan.chosen = scalar_candidate(problem, device, *fuse);
    if (*fuse > deepest) plan.candidates.push_back(plan.chosen);
  } else {
    plan.chosen =
        *std::min_element(plan.candidates.begin(), plan.candidates.end(),
                          [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
  }
  return plan;
}

}  // namespace spsolve
