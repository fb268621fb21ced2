// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/step_tile.hpp"

#include <algorithm>

#include "kernels/rounding.hpp"

namespace spsolve::cuda {
namespace {

constexpr std::int64_t least_planes = 8, most_planes = 256, least_columns = 8;
constexpr std::int64_t planes_of_turn = 4;  // that a thread takes together (steps.cuh), at most
// Measured on H200, in cycles: from the launch to the first step, of a step, of loads.
constexpr double start_cycles = 4000, barrier_cycles = 150, turn_cycles = 100, load_cycles = 800;

/// Planes that a tile of so many holds for so many steps.
std::int64_t held_planes(const KernelStencil& stencil, std::int64_t planes, int steps) {
  const int radius = stencil.radius[plane_axis];
  const std::int64_t held = planes + 2 * steps * radius;
  return stencil.walls[plane_axis][low] == Wall::none
             ? held
             : std::min<std::int64_t>(held, stencil.shape[plane_axis] + 2 * radius);
}

StepTile cut_tile(const KernelStencil& stencil, const Region& region, int steps, int compute_bytes,
                  const BlockLimits& limits, std::int64_t planes, std::int64_t columns, int stride) {
  const auto extent = [&](int axis) { return region.end[axis] - region.begin[axis]; };
  StepTile tile{stride, planes, columns, pieces(extent(plane_axis), planes),
                pieces(extent(column_axis), columns)};
  const std::int64_t held = held_planes(stencil, planes, steps);
  tile.shared_bytes = static_cast<std::size_t>(compute_bytes * stride * (2 * held + planes_of_turn - 1));
  const auto turns = [&](std::int64_t rows) {
    return static_cast<double>(pieces(rows, planes_of_turn * (StepTile::threads / stride)));
  };
  // A warp takes a cycle of shared memory for every 128 bytes.
  const double warps = StepTile::threads / 32, wavefronts = compute_bytes / 4.0,
               turn = std::max(turn_cycles,
                               planes_of_turn * warps * wavefronts * (0.75 * stencil.operations + 1));
  tile.cycles = load_cycles * turns(held);
  for (int left = 0; left < steps; ++left)
    tile.cycles += barrier_cycles + turn * turns(held_planes(stencil, planes, left));
  tile.cycles *= static_cast<double>(pieces(tile.plane_tiles * tile.column_tiles, limits.multiprocessors));
  tile.cycles += start_cycles;
  return tile;
}

}  // namespace

std::optional<StepTile> choose_step_tile(const KernelStencil& stencil, const Region& region, int steps,
                                         int compute_bytes, const BlockLimits& limits) {
  if (stencil.shape[row_axis] > 1 || stencil.radius[row_axis] > 0 || stencil.radius[plane_axis] == 0)
    return std::nullopt;
  std::optional<StepTile> best;
  const std::int64_t all_planes = region.end[plane_axis] - region.begin[plane_axis],
                     all_columns = region.end[column_axis] - region.begin[column_axis];
  for (const int stride : {32, 64, 128}) {
    const std::int64_t widest = stride - 2 * steps * stencil.radius[column_axis];
    if (widest < std::min(all_columns, least_columns)) continue;
    const std::int64_t columns = pieces(all_columns, pieces(all_columns, widest));
    for (std::int64_t planes = std::min(all_planes, most_planes);
         planes >= std::min(all_planes, least_planes); --planes) {
      if (planes != pieces(all_planes, pieces(all_planes, planes))) continue;  // leave no smaller last tile
      const StepTile tile = cut_tile(stencil, region, steps, compute_bytes, limits, planes, columns, stride);
      if (tile.shared_bytes <= limits.shared_bytes && (!best || tile.cycles < best->cycles)) best = tile;
    }
  }
  return best;
}

}  // namespace spsolve::cuda
