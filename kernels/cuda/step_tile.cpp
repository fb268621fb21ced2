// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/step_tile.hpp"

#include <algorithm>

#include "kernels/cuda/launch_shape.hpp"
#include "kernels/rounding.hpp"

namespace spsolve::cuda {
namespace {

constexpr std::int64_t most_threads = 1024, least_extent = 8, most_extent = 256;
// Counted and measured on H200: cycles from a launch to its first step, of a barrier, of the loads, sum and
// store of a point; instructions of a point.
constexpr double start_cycles = 3000, barrier_cycles = 60, point_cycles = 90, tap_cycles = 5;
constexpr double point_slots = 14, tap_slots = 2, load_slots = 40;

/// Points of an axis that a tile of so many holds for so many steps.
std::int64_t held_points(const KernelStencil& stencil, int axis, std::int64_t points, int steps) {
  const std::int64_t held = points + 2 * steps * stencil.radius[axis];
  return stencil.walls[axis][low] == Wall::none
             ? held
             : std::min<std::int64_t>(held, stencil.shape[axis] + 2 * stencil.radius[axis]);
}

StepTile cut_tile(const KernelStencil& stencil, const Region& region, int steps, int compute_bytes,
                  const BlockLimits& limits, std::int64_t planes, std::int64_t columns) {
  const auto extent = [&](int axis) { return region.end[axis] - region.begin[axis]; };
  StepTile tile{planes, columns, pieces(extent(plane_axis), planes), pieces(extent(column_axis), columns)};
  const std::int64_t stride = columns + 2 * steps * stencil.radius[column_axis],
                     held = held_points(stencil, plane_axis, planes, steps);
  if (stride > most_threads) return tile;
  const std::int64_t most_rows = std::min(most_threads / stride, held),
                     rows = pieces(held, pieces(held, most_rows));
  tile.threads = static_cast<int>(rows * stride);
  tile.shared_bytes = static_cast<std::size_t>(2 * compute_bytes * held * stride);
  if (tile.shared_bytes > limits.shared_bytes) return tile;
  const std::int64_t resident = std::min<std::int64_t>(
      2048 / tile.threads, static_cast<std::int64_t>(limits.shared_bytes / tile.shared_bytes));
  const std::int64_t blocks = tile.plane_tiles * tile.column_tiles,
                     each = pieces(blocks, limits.multiprocessors);
  const double taps = stencil.operations * (compute_bytes == 8 ? 1.5 : 1.0);
  double turns = 0;
  for (int left = 0; left < steps; ++left)
    turns += static_cast<double>(pieces(held_points(stencil, plane_axis, planes, left), rows));
  const double slots = turns * (point_slots + tap_slots * taps) +
                       load_slots * static_cast<double>(pieces(held, rows)),
               latency = turns * (point_cycles + tap_cycles * taps) + steps * barrier_cycles;
  tile.cycles = start_cycles + std::max(static_cast<double>(each * pieces(tile.threads, 32)) /
                                            schedulers_of_multiprocessor * slots,
                                        static_cast<double>(pieces(each, resident)) * latency);
  return tile;
}

}  // namespace

std::optional<StepTile> choose_step_tile(const KernelStencil& stencil, const Region& region, int steps,
                                         int compute_bytes, const BlockLimits& limits) {
  if (stencil.shape[row_axis] > 1 || stencil.radius[row_axis] > 0) return std::nullopt;
  std::optional<StepTile> best;
  // Extents that leave no smaller last tile.
  const auto for_each_extent = [&](int axis, auto&& body) {
    const std::int64_t extent = region.end[axis] - region.begin[axis];
    for (std::int64_t tile = std::min(extent, most_extent); tile >= std::min(extent, least_extent); --tile)
      if (tile == pieces(extent, pieces(extent, tile))) body(tile);
  };
  for_each_extent(plane_axis, [&](std::int64_t planes) {
    for_each_extent(column_axis, [&](std::int64_t columns) {
      const StepTile tile = cut_tile(stencil, region, steps, compute_bytes, limits, planes, columns);
      if (tile.cycles > 0 && (!best || tile.cycles < best->cycles)) best = tile;
    });
  });
  return best;
}

}  // namespace spsolve::cuda
