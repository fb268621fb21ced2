// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <tuple>

#include "solver/model_parts.hpp"

namespace spsolve {
namespace {

constexpr double round_up(double value, double multiple) { return std::ceil(value / multiple) * multiple; }

/// The CPU unit streams tiles through the cache (kernels/cpu_unit.hpp): memory is read and written once per
/// launch, and a tile of `side` points across the stream recomputes the halo of its intermediate steps.
void evaluate_cpu(const Problem& problem, const DeviceModel& device, Candidate& candidate) {
  const auto element = static_cast<double>(storage_bytes(problem.precision));
  const double level_element = std::max(element, 4.0);  // 16-bit formats keep intermediate steps in fp32
  const Domain& domain = problem.domain;
  const Index3& radius = problem.stencil.radius();
  const int fuse = candidate.fuse;

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

  candidate.bytes = (1.0 + device.write_traffic) * element / fuse;
  if (problem.has_source) candidate.bytes += std::max(element, 4.0) / fuse;
  candidate.fma = static_cast<double>(problem.stencil.taps().size()) * recomputed;
  candidate.compute_seconds =
      candidate.fma * (fuse > 1 ? device.level_cost : 1.0) / device.scalar_rate(problem.precision);
  candidate.memory_seconds = candidate.bytes / device.bandwidth;
  // Loads and sums of one core overlap in part only: the longer time and half of the shorter one were
  // measured.
  candidate.seconds = std::max(candidate.compute_seconds, candidate.memory_seconds) +
                      0.5 * std::min(candidate.compute_seconds, candidate.memory_seconds);
}

/// Whether every tap has one of the same weight at its place mirrored along an axis.
bool mirrored(const Stencil& stencil, int axis) {
  return std::all_of(stencil.taps().begin(), stencil.taps().end(), [&](const Tap& tap) {
    Tap image = tap;
    image.offset[axis] = -image.offset[axis];
    return std::binary_search(stencil.taps().begin(), stencil.taps().end(), image,
                              [](const Tap& a, const Tap& b) {
                                return std::tie(a.offset, a.weight) < std::tie(b.offset, b.weight);
                              });
  });
}

/// Operations per point and step: the taps or, of boxes that are their own mirror image, those of the folded
/// sum, in which points that share a weight are added first (kernels/cuda/kernel_stencil.hpp).
double operations(const Problem& problem) {
  const Stencil& stencil = problem.stencil;
  const auto taps = static_cast<double>(stencil.taps().size());
  if (problem.domain.dimensions == 1 || stencil.is_star() || taps > 512) return taps;
  double products = 1, sums = 0;  // of whole boxes
  for (const int axis : {x_axis, y_axis, z_axis}) {
    const auto radius = static_cast<double>(stencil.radius()[axis]);
    const bool folded = radius > 0 && mirrored(stencil, axis);
    const bool across_the_march = axis == (problem.domain.dimensions == 3 ? z_axis : y_axis);
    if (folded) sums = across_the_march ? sums + 2 * radius : sums * (radius + 1) + radius;
    products *= folded ? radius + 1 : 2 * radius + 1;
  }
  return std::min(taps, products + sums);
}

/// How march.cuh is cut (kernels/cuda/tile.cpp): what of a tile is written, and how deep one kernel goes.
struct GpuTile {
  double columns, rows;
  int depth;

  GpuTile(const Problem& problem, int fuse) {
    const Domain& domain = problem.domain;
    const Index3& radius = problem.stencil.radius();
    const bool fp64 = problem.precision == Precision::fp64, star = problem.stencil.is_star();
    const auto x_radius = std::max<std::int64_t>(radius[x_axis], 1);
    columns = domain.dimensions == 1 ? (fp64 ? 256 : 512) : domain.dimensions == 3 && fp64 ? 64 : 128;
    while (columns < 32.0 * static_cast<double>(x_radius)) columns *= 2;
    rows = domain.dimensions == 3 ? 48 : 1;
    // Registers for the partial sums of the planes ahead, and instructions of one plane.
    const double points = rows * columns / 32 / (domain.dimensions == 3 ? (fp64 ? 8 : 12) : 1);
    const double budget = domain.dimensions == 3 ? (fp64 ? (star ? 160 : 100) : (star ? 128 : 96)) : 144;
    const auto slow = static_cast<double>(radius[domain.dimensions == 3 ? z_axis : y_axis]);
    const double levels = 2 * slow * points * (fp64 ? 2 : 1);
    const double taps = static_cast<double>(problem.stencil.taps().size());
    double deepest = domain.dimensions == 1 ? 16 : 8;
    if (levels > 0) deepest = std::min(deepest, budget / levels);
    deepest = std::min(deepest, 2500 / (taps * points));
    const int most = std::max(1, static_cast<int>(deepest));
    kernels = (fuse + most - 1) / most;
    depth = (fuse + kernels - 1) / kernels;
    const double granule = 16.0 / static_cast<double>(storage_bytes(problem.precision));
    useful = std::max(0.1, 1 - 2 * round_up(static_cast<double>(depth * radius[x_axis]), granule) / columns) *
             (rows > 1 ? std::max(0.1, 1 - 2.0 * static_cast<double>(depth * radius[y_axis]) / rows) : 1.0);
  }

  int kernels;
  double useful;
};

/// Blocks beside walls take longer: in 2D they end last, in 3D they are many (docs/kernels-scalar.md).
double wall_slowdown(const Problem& problem, const GpuTile& tile) {
  const Domain& domain = problem.domain;
  bool walls = false, mirrors = false;
  for (int axis = 0; axis < axis_count; ++axis) {
    walls = walls || !domain.periodic(axis);
    for (const Face& face : domain.faces[axis]) mirrors = mirrors || face.kind == BoundaryKind::neumann;
  }
  if (!walls || domain.dimensions == 1) return 0;
  const bool fp64 = problem.precision == Precision::fp64;
  if (domain.dimensions == 2) return mirrors ? 0.22 : fp64 ? 0.04 : 0.08;
  double untouched = 1;
  if (!domain.periodic(x_axis))
    untouched *=
        std::max(0.0, 1 - 2 * tile.columns * tile.useful / static_cast<double>(domain.shape[x_axis]));
  if (!domain.periodic(y_axis))
    untouched *= std::max(0.0, 1 - 2 * tile.rows / static_cast<double>(domain.shape[y_axis]));
  const double star = problem.stencil.is_star() && !fp64 ? 1.0 : 0.35;
  return (1 - untouched) * star * (mirrors ? 1.85 : 1.0);
}

void evaluate_gpu(const Problem& problem, const DeviceModel& device, Candidate& candidate) {
  const auto element = static_cast<double>(storage_bytes(problem.precision));
  const double sums = std::max(element, 4.0);
  const GpuTile tile(problem, candidate.fuse);
  const bool fp64 = problem.precision == Precision::fp64, space = problem.domain.dimensions == 3;
  candidate.bytes = (2 * element + 2 * sums * (tile.kernels - 1)) / candidate.fuse;
  if (problem.has_source) candidate.bytes += sums * tile.kernels / candidate.fuse;
  candidate.fma = operations(problem) / tile.useful;
  // Loads, shared rows and shuffles take issue slots beside the multiply-adds.
  const bool line = problem.domain.dimensions == 1;
  const double others = (space ? (fp64 ? 5 : 7) : fp64 ? (line ? 0.25 : 1) : 2) / tile.useful;
  candidate.compute_seconds = (candidate.fma + others) / device.scalar_rate(problem.precision);
  candidate.memory_seconds = candidate.bytes / device.bandwidth;
  candidate.seconds = overlapped({candidate.memory_seconds, candidate.compute_seconds});
  candidate.wall_seconds = wall_slowdown(problem, tile) * candidate.seconds;
  candidate.seconds += candidate.wall_seconds;
  candidate.launch_seconds *= tile.kernels;
}

}  // namespace

void evaluate_scalar(const Problem& problem, const DeviceModel& device, Candidate& candidate) {
  if (device.gpu)
    evaluate_gpu(problem, device, candidate);
  else
    evaluate_cpu(problem, device, candidate);
  candidate.sparsity = static_cast<double>(problem.stencil.taps().size()) / candidate.fma;
}

}  // namespace spsolve
