// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <set>

#include "kernels/cuda/launch_shape.hpp"
#include "kernels/cuda/tile.hpp"
#include "solver/model_parts.hpp"

namespace spsolve {
namespace {

using cuda::column_axis, cuda::plane_axis, cuda::row_axis;

// Measured on H200 (docs/plan.md).
constexpr double tap_fp32 = 0.185e-12, tap_fp64 = 0.35e-12;     // s per tap of step.cuh
constexpr double space_taps_fp32 = 2.4, space_taps_fp64 = 3.2;  // times that in 3D: they miss the cache
constexpr double kept_steps = 3;                                // of those that are too many to unroll, in 3D
constexpr double kept_loop = 1.5;                               // the same of marches
constexpr double alone_cycles = 1.5;   // of an issue slot of a warp that has a scheduler to itself
constexpr double plane_latency = 20;   // cycles until a plane has advanced a level
constexpr double source_slots = 7;     // times the dimension, of reading it
constexpr double march_fill = 1.5e-6;  // s, from the first planes of a small grid to results
constexpr double step_latency = 2.8e-6, tap_latency = 0.08e-6;  // s, of a step of few points
constexpr double kernel_gap = 1e-6;                             // s, between two kernels of a launch
constexpr double band_kernel = 4.5e-6;                          // s, a kernel of a band, from start to start

/// A stencil on a grid as kernels see them, with the limits of a device.
struct March {
  const Problem& problem;
  const DeviceModel& device;
  cuda::KernelStencil stencil;
  std::array<std::int64_t, 3> shape{};
  cuda::BlockLimits limits;

  March(const Problem& solved, const DeviceModel& modelled)
      : problem(solved),
        device(modelled),
        stencil(solved.domain, solved.stencil, solved.precision, solved.has_source),
        limits{static_cast<int>(modelled.compute_capability),
               static_cast<std::size_t>(modelled.shared_bytes_per_block),
               static_cast<int>(modelled.multiprocessors)} {
    const auto axes = cuda::grid_axes(solved.domain);
    for (int k = 0; k < axis_count; ++k) shape[k] = solved.domain.shape[axes[k]];
  }

  bool fp64() const { return problem.precision == Precision::fp64; }
  bool space() const { return problem.domain.dimensions == 3; }
  std::optional<cuda::Tile> tile(int depth) const {
    return cuda::choose_tile(stencil, {problem.precision, true, true}, depth, limits);
  }
  /// The steps of one kernel, as ScalarUnit::advance() cuts a launch; 0: single steps without a march.
  int depth_of_kernels(int fuse) const {
    const int preferred = cuda::preferred_depth(stencil, {problem.precision, true, true}, limits);
    return preferred > 0 && tile(fuse) ? fuse : preferred;
  }
};

/// How a march is launched over a region (ScalarUnit::march()), and what it executes.
struct Launch {
  cuda::Tile tile;
  std::int64_t planes_per_block, blocks;  // with the warm-up
  double warps;                           // that the busiest scheduler is given
  std::int64_t waves;                     // of as many blocks as are resident
  double executed = 0;                    // points, per step: halos of tiles, idle multiprocessors

  Launch(const March& march, const cuda::Tile& cut, const std::array<std::int64_t, 3>& region) : tile(cut) {
    const std::int64_t tiles =
        pieces(region[column_axis], tile.written_columns()) * pieces(region[row_axis], tile.written_rows());
    const std::int64_t multiprocessors = march.limits.multiprocessors;
    const std::int64_t warm_up = cuda::warm_up_planes(march.stencil, tile);
    const std::int64_t planes = region[plane_axis],
                       resident = tile.blocks_per_multiprocessor * multiprocessors;
    const std::int64_t length =
        cuda::steps_per_block(planes, tiles, resident, warm_up,
                              tile.warps == 1 ? cuda::schedulers_of_multiprocessor * multiprocessors : 0);
    planes_per_block = length + warm_up;
    blocks = tiles * pieces(planes, length);
    warps = static_cast<double>(pieces(blocks, multiprocessors) * tile.warps) /
            cuda::schedulers_of_multiprocessor;
    if (tile.warps == 1) warps = std::ceil(warps);
    waves = std::max<std::int64_t>(1, blocks / resident);
    executed = static_cast<double>(pieces(blocks, multiprocessors) * multiprocessors) *
               static_cast<double>(planes_per_block * tile.rows() * tile.columns());
  }
};

/// Planes between those of taps that no tap is on: their sums are handed on all the same.
int empty_planes(const cuda::KernelStencil& stencil) {
  std::set<int> planes;
  for (const cuda::Tap& tap : stencil.taps) planes.insert(tap.offset[plane_axis]);
  const int reach = *planes.rbegin() - *planes.begin() + 1;
  return stencil.pointwise_completion() ? 0 : reach - static_cast<int>(planes.size());
}

/// Issue slots per point and step of a kernel: the sum, then loads, shared rows and shuffles, of which some
/// are those of the whole kernel, others go with the radius where points are not folded along x. Few warps
/// per multiprocessor hide less.
double issue_slots(const March& march, const cuda::Tile& tile) {
  const cuda::KernelStencil& stencil = march.stencil;
  const double reach = stencil.radius[column_axis] - 1.0, share = stencil.folded[column_axis] ? 0.25 : 1.0;
  const bool box = !stencil.pointwise_completion(), fp64 = march.fp64();
  const bool half = storage_bytes(march.problem.precision) == 2;
  double others = 0, per_kernel = 0, hidden = 1;
  switch (march.problem.domain.dimensions) {
    case 1:
      others = fp64 ? 0.15 + 0.3 * reach : 1.2 + 0.5 * reach;
      per_kernel = fp64 ? 2 : 8;
      if (!fp64 && reach <= 3 && tile.depth * stencil.radius[column_axis] % 32 == 0)
        hidden = 0.94;  // tiles begin where lines of memory do
      break;
    case 2:
      others = 0.8 + 1.5 * share * std::max(0.0, reach) +
               (box && share == 1 && stencil.taps.size() > 3 ? 1.5 : 0) + 3 * empty_planes(stencil);
      per_kernel = fp64 ? 2 : 10;
      if (tile.depth > 8 && reach == 0) hidden = fp64 ? 1.05 : box ? 1.2 : 1.1;
      break;
    default:
      others = 6.0 + (fp64 ? 1.5 : 4.0) * box + 6.0 * share * std::max(0.0, reach);
      per_kernel = half ? 4 : 0;
  }
  // Operands are rounded to tf32 first.
  const double rounding = march.problem.precision == Precision::tf32 ? 10 : 0;
  const auto taps = static_cast<int>(stencil.taps.size());
  const int read = taps * (stencil.folded[row_axis] ? 2 : 1) * (stencil.folded[column_axis] ? 2 : 1);
  if (march.space() && read > 192) hidden *= kept_loop;
  const double source = stencil.with_source ? source_slots * march.problem.domain.dimensions : 0;
  return (stencil.operations + std::max(0.0, others) + rounding + source + per_kernel / tile.depth) * hidden;
}

/// Seconds of a step of so many points, one thread each (step.cuh).
double step_seconds(const March& march, double points) {
  const auto taps = static_cast<double>(march.problem.stencil.taps().size());
  const double in_space =
      (march.fp64() ? space_taps_fp64 : space_taps_fp32) * (taps > 192 ? kept_steps : 1.0);
  return points * taps * (march.fp64() ? tap_fp64 : tap_fp32) * (march.space() ? in_space : 1.0) *
         nominal_gpu().scalar_fp32 / march.device.scalar_fp32;
}

/// Seconds of one kernel that computing alone would take: a march with a tile, else a step.
double kernel_seconds(const March& march, const std::array<std::int64_t, 3>& region,
                      const std::optional<cuda::Tile>& tile) {
  if (!tile)
    return step_seconds(march, static_cast<double>(region[0] * region[1] * region[2])) +
           tap_latency * static_cast<double>(march.problem.stencil.taps().size());
  const Launch launch(march, *tile, region);
  const auto slot = [&](double rate) {  // s, of one scheduler
    return 32 * cuda::schedulers_of_multiprocessor * march.limits.multiprocessors / rate;
  };
  const double cycle = slot(march.device.scalar_fp32),
               busy = slot(march.device.scalar_rate(march.problem.precision));
  const double slots =
      static_cast<double>(tile->points_per_lane * tile->rows_per_warp) * issue_slots(march, *tile);
  // A scheduler issues for its warps in turn, unless these are few and wait for their own results.
  const double alone = march.stencil.radius[plane_axis] == 0
                           ? 0.0
                           : std::max(busy, alone_cycles * cycle) * slots + plane_latency * cycle;
  return static_cast<double>(tile->depth * launch.planes_per_block) *
         std::max(launch.warps * slots * busy, static_cast<double>(launch.waves) * alone);
}

/// The same of the kernels of `fuse` steps of a region. Those before the last take what the others need, too:
/// beyond periodic faces more than the grid.
double compute_seconds(const March& march, const std::array<std::int64_t, 3>& region, int fuse) {
  const int deepest = march.depth_of_kernels(fuse);
  const int kernels = deepest > 0 ? pieces(fuse, deepest) : fuse;
  const auto axes = cuda::grid_axes(march.problem.domain);
  double seconds = 0;
  for (int k = 0, done = 0; k < kernels; ++k) {
    const int depth = fuse * (k + 1) / kernels - done;
    done += depth;
    auto grown = region;
    for (int axis = 0; axis < axis_count; ++axis)
      if (march.problem.domain.periodic(axes[axis]))
        grown[axis] += 2 * (fuse - done) * march.stencil.radius[axis];
    seconds += kernel_seconds(march, grown, deepest > 0 ? march.tile(depth) : std::nullopt);
  }
  return seconds;
}

bool has_mirrors(const Domain& domain) {
  bool mirrors = false;
  for (const auto& faces : domain.faces)
    for (const Face& face : faces) mirrors = mirrors || face.kind == BoundaryKind::neumann;
  return mirrors;
}

/// Blocks beside walls take longer: in 2D they end last, in 3D they are many (docs/kernels-scalar.md); those
/// of boxes most beside neumann faces.
double wall_slowdown(const March& march, const cuda::Tile& tile) {
  const Domain& domain = march.problem.domain;
  const bool mirrors = has_mirrors(domain), box = !march.stencil.pointwise_completion();
  if (!march.stencil.has_walls() || domain.dimensions == 1) return 0;
  if (domain.dimensions == 2) return march.fp64() ? 0.04 : 0.08;
  double untouched = 1;
  const auto written = [&](int axis) {
    return static_cast<double>(axis == x_axis ? tile.written_columns() : tile.written_rows());
  };
  for (const int axis : {x_axis, y_axis})
    if (!domain.periodic(axis))
      untouched *= std::max(0.0, 1 - 2 * written(axis) / static_cast<double>(domain.shape[axis]));
  // Deep tiles of fp64 that meet walls lack registers.
  const bool deep = march.fp64() && tile.depth * march.stencil.radius[plane_axis] >= 4;
  // Neighbours in rows beyond neumann faces are chosen by masks where points are not folded.
  const bool masks = !march.stencil.folded[row_axis] && !domain.periodic(y_axis) &&
                     (domain.faces[y_axis][low].kind == BoundaryKind::neumann ||
                      domain.faces[y_axis][high].kind == BoundaryKind::neumann);
  const double slower = box       ? (masks && march.stencil.taps.size() > 27 ? 1.3
                                     : mirrors                               ? 0.1
                                                                             : 0.05)
                        : mirrors ? (march.fp64() ? 0.35 : 0.7) + (deep ? 0.35 : 0.0)
                                  : 0.27 + (deep ? 0.35 : 0.0);
  return (1 - untouched) * slower;
}

/// Neumann faces across the march.
int mirrored_faces(const March& march) {
  int faces = 0;
  for (const Face& face : march.problem.domain.faces[cuda::grid_axes(march.problem.domain)[plane_axis]])
    faces += face.kind == BoundaryKind::neumann;
  return faces;
}

/// Seconds of the single steps beside these: both faces at the same time, of as many planes as the steps
/// after it need.
double mirror_seconds(const March& march, int fuse, int depth) {
  const int faces = mirrored_faces(march);
  const double planes = faces * 1.5 * depth * march.stencil.radius[plane_axis];
  const double points = planes * static_cast<double>(march.shape[row_axis] * march.shape[column_axis]);
  const auto taps = static_cast<double>(march.stencil.taps.size());
  return faces ? fuse * (step_latency + tap_latency * taps + step_seconds(march, points)) : 0;
}

/// What of these a march of so many seconds, kernel by kernel, does not hide: in 2D blocks leave little room
/// for others on grids that fill the device, those of little reach more.
double mirrors_not_hidden(const March& march, int fuse, int depth, double seconds) {
  const double mirrors = mirror_seconds(march, fuse, depth);
  if (march.space()) return std::max(0.0, mirrors - 0.6 * seconds);
  if (march.problem.domain.box().points() < 1'000'000) return std::max(0.0, mirrors - seconds);
  const bool short_reach = depth * march.stencil.radius[plane_axis] <= 6;
  return short_reach ? std::max(0.35 * mirrors, mirrors - 0.3 * seconds)
                     : std::max(0.0, mirrors - 0.1 * seconds);
}

}  // namespace

double band_seconds(const Problem& problem, const DeviceModel& device, int fuse) {
  const March march(problem, device);
  const auto axes = cuda::grid_axes(problem.domain);
  const int deepest = march.depth_of_kernels(fuse), kernels = deepest > 0 ? pieces(fuse, deepest) : fuse;
  auto inner = march.shape;
  // As measured: thin slabs leave most of the device idle, and all of their blocks meet walls.
  const double thin = problem.domain.dimensions == 1 ? 1 : 1.1 + 0.06 * fuse;
  double seconds = mirror_seconds(march, fuse, pieces(fuse, kernels));
  for (int k = 0; k < axis_count; ++k) {
    if (problem.domain.periodic(axes[k])) continue;
    const std::int64_t reach = std::min<std::int64_t>(fuse * march.stencil.radius[k], inner[k] / 2);
    auto slab = inner;
    slab[k] = reach;
    inner[k] -= 2 * reach;
    // Beside neumann faces across the march all is stepped; bands across other axes may have left nothing.
    const int marched = k == plane_axis ? 2 - mirrored_faces(march) : 2;
    if (slab[0] * slab[1] * slab[2] > 0)
      seconds += marched * (thin * compute_seconds(march, slab, fuse) + kernels * band_kernel);
  }
  return seconds;
}

void evaluate_on_gpu(const Problem& problem, const DeviceModel& device, Candidate& candidate) {
  const March march(problem, device);
  const auto element = static_cast<double>(storage_bytes(problem.precision));
  const double sums = std::max(element, 4.0), points = static_cast<double>(problem.domain.box().points());
  const int deepest = march.depth_of_kernels(candidate.fuse);
  const int kernels = deepest > 0 ? pieces(candidate.fuse, deepest) : candidate.fuse;
  const auto tile = deepest > 0 ? march.tile(pieces(candidate.fuse, kernels)) : std::nullopt;
  const double per_step = 1 / (points * candidate.fuse);

  candidate.bytes = (2 * element + 2 * sums * (kernels - 1)) / candidate.fuse;
  if (problem.has_source) candidate.bytes += sums * kernels / candidate.fuse;
  // Half of a multiply-add: an addition of points that share a weight.
  const double fma = (march.stencil.operations + static_cast<double>(march.stencil.taps.size())) / 2;
  candidate.fma = tile ? fma * Launch(march, *tile, march.shape).executed / points
                       : static_cast<double>(problem.stencil.taps().size());
  // Halos of tiles are read again, in 3D partly from memory.
  candidate.memory_seconds = candidate.bytes / device.bandwidth * (march.space() ? 1.12 : 1.0);
  candidate.compute_seconds = compute_seconds(march, march.shape, candidate.fuse) * per_step;
  candidate.launch_seconds += (kernels - 1) * kernel_gap * per_step;
  if (tile && march.stencil.radius[plane_axis] > 0)
    candidate.launch_seconds += kernels * march_fill * (1 - filled(problem.domain)) * per_step;
  candidate.seconds = overlapped({candidate.memory_seconds, candidate.compute_seconds});
  if (!tile) return;
  const double seconds = candidate.seconds / per_step;
  candidate.wall_seconds =
      wall_slowdown(march, *tile) * candidate.seconds +
      mirrors_not_hidden(march, candidate.fuse, pieces(candidate.fuse, kernels), seconds) * per_step;
  candidate.seconds += candidate.wall_seconds;
}

}  // namespace spsolve
