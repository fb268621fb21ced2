// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/scalar/point_step_cycles.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "kernels/cuda/launch/launch_shape.hpp"

namespace spsolve::cuda {
namespace {

constexpr int max_unrolled_taps = 512;

using Costs = Calibration::SingleSteps;

/// Holds the points that a sum reads.
struct PointsRead {
  int points = 0;
  std::array<std::set<int>, 3> offsets;        // offsets along each axis
  std::map<int, std::set<int>> rows_of_plane;  // planes and rows in tile axes

  int extent(int axis) const { return *offsets[axis].rbegin() - *offsets[axis].begin() + 1; }
};

PointsRead points_read_of(const KernelStencil& stencil) {
  PointsRead all;
  for (const KernelTap& tap : stencil.taps) {
    int points = 1;
    for (int axis = 0; axis < axis_count; ++axis) {
      const bool pair = axis != plane_axis && stencil.folded[axis] && tap.offset[axis] != 0;
      points *= pair ? 2 : 1;
      for (const int offset : {tap.offset[axis], pair ? -tap.offset[axis] : tap.offset[axis]}) {
        all.offsets[axis].insert(offset);
        if (axis == stencil.tile_axis()) all.rows_of_plane[tap.offset[stencil.slow_axis()]].insert(offset);
      }
    }
    all.points += points;
  }
  return all;
}

/// Returns how many rows of input per row of results come from the L2 cache. In each plane these are the rows
/// within reach of the rows that the threads of a block compute together.
double rows_read(const PointsRead& operands, double columns) {
  constexpr double threads = 256;
  const double together = std::max(1.0, threads / columns);
  double read = 0;
  for (const auto& [plane, rows] : operands.rows_of_plane)
    read += std::min(static_cast<double>(rows.size()),
                     1 + static_cast<double>(*rows.rbegin() - *rows.begin()) / together);
  return read;
}

/// Returns the issue slots of a point beside walls: a share per tap for every kind of wall, and a share for
/// the offsets before the taps.
double wall_slots(const KernelStencil& stencil, const PointsRead& operands, bool fp64, const Costs& costs) {
  bool constants = false, mirrors = false;
  for (const auto& faces : stencil.walls)
    for (const Wall wall : faces) {
      constants = constants || wall == Wall::dirichlet;
      mirrors = mirrors || wall == Wall::neumann;
    }
  return operands.points * (constants * (fp64 ? costs.constant_fp64 : 1.0) * costs.constant_slots +
                            mirrors * costs.mirror_slots) +
         costs.offset_slots * std::max({operands.extent(0), operands.extent(1), operands.extent(2)});
}

/// Returns the share of warps with points beside the ends of an axis. These warps run both branches of the
/// kernel.
double warps_beside_ends_of(const KernelStencil& stencil, const Region& region, const PointsRead& operands,
                            int axis) {
  const std::int64_t begin = region.begin[axis], end = region.end[axis],
                     low = -*operands.offsets[axis].begin(),
                     high = stencil.shape[axis] - *operands.offsets[axis].rbegin();
  const std::int64_t beside = std::max<std::int64_t>(0, std::min(low, end) - begin) +
                              std::max<std::int64_t>(0, end - std::max(high, begin));
  // A warp may hold the end of a row and the beginning of the next.
  const std::int64_t of_warp = axis == column_axis && beside > 0 ? 32 : 0;
  return std::min(1.0, static_cast<double>(beside + of_warp) / static_cast<double>(end - begin));
}

/// Returns the share of warps with points beside the ends of any of several axes.
double warps_beside_ends(const KernelStencil& stencil, const Region& region, const PointsRead& operands,
                         const std::array<bool, 3>& axes) {
  double inner = 1;
  for (int axis = 0; axis < axis_count; ++axis)
    if (axes[axis]) inner *= 1 - warps_beside_ends_of(stencil, region, operands, axis);
  return 1 - inner;
}

/// Returns the issue slots per point for ghost points and wrapped indices beyond the ends of axes.
double end_slots(const KernelStencil& stencil, const Region& region, const PointsRead& operands, bool fp64,
                 const Costs& costs) {
  const std::array walls{stencil.has_walls(0), stencil.has_walls(1), stencil.has_walls(2)};
  const double of_walls =
      warps_beside_ends(stencil, region, operands, walls) * wall_slots(stencil, operands, fp64, costs);
  if (stencil.wraps == std::array<bool, 3>{}) return of_walls;
  const double share = std::max(warps_beside_ends(stencil, region, operands, stencil.wraps),
                                std::min(1.0, operands.points / costs.crowding_taps));
  return of_walls + share * operands.points * (fp64 ? costs.repeat_fp64 : 1.0) * costs.repeat_slots;
}

}  // namespace

double point_step_cycles(const KernelStencil& stencil, const Region& region, const Formats& formats,
                         const BlockLimits& limits) {
  const Costs& costs = limits.costs().single_steps;
  const PointsRead operands = points_read_of(stencil);
  const bool fp64 = formats.compute_bytes() == 8;
  const double points = static_cast<double>(region.extent(0) * region.extent(1) * region.extent(2)) /
                        limits.multiprocessors,
               columns = static_cast<double>(region.extent(column_axis)), taps = operands.points;
  if (operands.points > max_unrolled_taps) return taps * costs.loop_cycles * std::max(1.0, points / 1024);
  const double bytes = std::max(4, formats.in_bytes()),
               more_rows = std::max(0.0, 32 / columns - 1),  // further rows of a warp
      first = taps * (bytes / costs.first_cache_bytes + more_rows * costs.row_cycles / 32),
               second = costs.second_cache_cycles * (rows_read(operands, columns) + stencil.with_source),
               slots = taps * (formats.storage == Precision::tf32 ? limits.costs().scheduler.rounding_slots
                                                                  : 0.0) +
                       end_slots(stencil, region, operands, fp64, costs);
  return points * (std::hypot(first, second) + slots / costs.slots_of_cycle) + taps * costs.tap_cycles;
}

}  // namespace spsolve::cuda
