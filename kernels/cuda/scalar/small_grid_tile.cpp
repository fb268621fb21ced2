// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/scalar/small_grid_tile.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "kernels/cuda/launch/launch_shape.hpp"
#include "kernels/cuda/scalar/march_tile.hpp"

namespace spsolve::cuda {
namespace {

constexpr std::int64_t min_planes = 8, max_planes = 256, min_columns = 8;

int planes_per_thread(const KernelStencil& stencil) {
  return planes_of_thread(static_cast<int>(stencil.taps.size()) * (stencil.folded[column_axis] ? 2 : 1));
}

/// Returns how many points a thread reads per sum.
double points_read(const KernelStencil& stencil) {
  std::map<int, std::pair<int, int>> planes_of_column;
  for (const KernelTap& tap : stencil.taps)
    for (const int side : {-1, 1}) {
      const int column = tap.offset[column_axis], plane = tap.offset[plane_axis];
      if (side < 0 && !stencil.folded[column_axis]) continue;
      auto& [first, last] = planes_of_column.try_emplace(side * column, plane, plane).first->second;
      first = std::min(first, plane), last = std::max(last, plane);
    }
  double points = 0;
  for (const auto& [column, planes] : planes_of_column)
    points += 1 + static_cast<double>(planes.second - planes.first) / planes_per_thread(stencil);
  return points;
}

/// Returns how many planes a tile of `planes` planes holds for `steps` steps.
std::int64_t held_planes(const KernelStencil& stencil, std::int64_t planes, int steps) {
  const int radius = stencil.radius[plane_axis];
  const std::int64_t held = planes + 2 * steps * radius;
  return !stencil.has_walls(plane_axis)
             ? held
             : std::min<std::int64_t>(held, stencil.shape[plane_axis] + 2 * radius);
}

/// Returns the cycles of a block for one turn of its threads. A warp takes one cycle of shared memory per 128
/// bytes, and one cycle of its scheduler per instruction.
double turn_cycles(const KernelStencil& stencil, int compute_bytes, const Calibration::SmallGrids& costs) {
  constexpr double warps = small_grid_threads / 32;
  const double words = compute_bytes / 4.0, read = points_read(stencil),
               together = planes_per_thread(stencil),
               slots = together * (read + words * stencil.operations + costs.point_slots) + costs.turn_slots;
  return warps * std::max(together * words * (read + 1), slots / schedulers_of_multiprocessor);
}

/// Returns the tile of `planes` x `columns` results with its cost; `turn` is turn_cycles().
SmallGridTile cut_tile(const KernelStencil& stencil, const Region& region, int steps, int compute_bytes,
                       const BlockLimits& limits, std::int64_t planes, std::int64_t columns, int stride,
                       double turn) {
  const Calibration::SmallGrids& costs = limits.costs().small_grids;
  const auto extent = [&](int axis) { return region.end[axis] - region.begin[axis]; };
  SmallGridTile tile{stride, planes, columns, ceil_div(extent(plane_axis), planes),
                     ceil_div(extent(column_axis), columns)};
  const int together = planes_per_thread(stencil);
  const std::int64_t held = held_planes(stencil, planes, steps);
  tile.shared_bytes = static_cast<std::size_t>(2 * compute_bytes * stride * (held + together - 1));
  const auto turns = [&](std::int64_t rows) {
    return static_cast<double>(ceil_div(rows, together * (small_grid_threads / stride)));
  };
  tile.points = together;
  tile.turn_cycles = turn;
  tile.load_turns = turns(held);
  for (int left = 0; left < steps; ++left) tile.turns += turns(held_planes(stencil, planes, left));
  tile.waves = static_cast<double>(ceil_div(tile.plane_tiles * tile.column_tiles, limits.multiprocessors));
  tile.cycles =
      tile.waves * (costs.load_cycles * tile.load_turns + costs.barrier_cycles * steps + turn * tile.turns);
  tile.cycles += costs.start_cycles + (stencil.has_walls() ? costs.ghost_cycles : 0);
  return tile;
}

/// Estimates the cycles of a march of the region by march.cuh.
double cycles_of_march(const KernelStencil& stencil, const MarchTile& tile, const Region& region,
                       int compute_bytes, const BlockLimits& limits) {
  const Calibration::SmallGrids& costs = limits.costs().small_grids;
  const std::int64_t planes = region.end[plane_axis] - region.begin[plane_axis],
                     columns = region.end[column_axis] - region.begin[column_axis],
                     tiles = ceil_div(columns, tile.written_columns()),
                     schedulers = schedulers_of_multiprocessor * limits.multiprocessors,
                     number = stretch_march(single_row_march(tile, planes, tiles, limits)).of_others.number,
                     length = ceil_div(planes, number);
  const double warps = static_cast<double>(tiles * number) / static_cast<double>(schedulers),
               slots = tile.points_per_lane * (stencil.operations + costs.sum_slots),
               plane = scheduler_time(warps, limits.costs()) * slots + costs.plane_cycles;
  return costs.march_cycles + (compute_bytes == 8 ? costs.level_cycles_fp64 * tile.depth : 0) +
         static_cast<double>((length + tile.warm_up) * tile.depth) * plane *
             (stencil.has_walls() ? costs.walls_slow : 1) +
         (stencil.has_stepped_planes() ? costs.mirror_cycles : 0);
}

}  // namespace

std::optional<SmallGridTile> choose_small_grid_tile(const KernelStencil& stencil, const Region& region,
                                                    int steps, int compute_bytes, const BlockLimits& limits) {
  if (stencil.shape[row_axis] > 1 || stencil.radius[row_axis] > 0 || stencil.radius[plane_axis] == 0)
    return std::nullopt;
  if (stencil.wraps != std::array<bool, 3>{})
    return std::nullopt;  // the kernel reads periodic copies in memory
  std::optional<SmallGridTile> best;
  const double turn = turn_cycles(stencil, compute_bytes, limits.costs().small_grids);
  const std::int64_t all_planes = region.end[plane_axis] - region.begin[plane_axis],
                     all_columns = region.end[column_axis] - region.begin[column_axis];
  for (const int stride : {32, 64, 128}) {
    const std::int64_t widest = stride - 2 * steps * stencil.radius[column_axis];
    if (widest < std::min(all_columns, min_columns)) continue;
    const std::int64_t columns = ceil_div(all_columns, ceil_div(all_columns, widest));
    for (std::int64_t planes = std::min(all_planes, max_planes); planes >= std::min(all_planes, min_planes);
         --planes) {
      if (planes != ceil_div(all_planes, ceil_div(all_planes, planes)))
        continue;  // a smaller extent gives the same number of tiles
      const SmallGridTile tile =
          cut_tile(stencil, region, steps, compute_bytes, limits, planes, columns, stride, turn);
      if (tile.shared_bytes <= limits.shared_bytes && tile.plane_tiles <= max_blocks_across &&
          (!best || tile.cycles < best->cycles))
        best = tile;
    }
  }
  return best;
}

std::optional<SmallGridTile> choose_faster_small_grid_tile(const KernelStencil& stencil, const Region& region,
                                                           int steps, const Formats& formats,
                                                           const BlockLimits& limits) {
  const auto tile = choose_small_grid_tile(stencil, region, steps, formats.compute_bytes(), limits);
  if (!tile) return std::nullopt;
  const auto march = choose_march_tile(stencil, formats, steps, limits);
  const auto faster = [&] {
    return tile->cycles < cycles_of_march(stencil, *march, region, formats.compute_bytes(), limits);
  };
  return march && faster() ? tile : std::nullopt;
}

}  // namespace spsolve::cuda
