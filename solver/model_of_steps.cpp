// SPDX-License-Identifier: Apache-2.0
// Kernels of the scalar unit that do not march: step.cuh, one thread per point, box_step.cuh, star_step.cuh
// and steps.cuh.
#include <algorithm>
#include <cmath>

#include "solver/model_march.hpp"

namespace spsolve {
namespace {

using cuda::column_axis, cuda::plane_axis, cuda::row_axis;

// Measured on H200 (docs/plan.md).
constexpr double second_level = 0.75e-12;  // s, of a point of a row from the cache that multiprocessors share
constexpr double most_unrolled_taps = 512;
constexpr double tap_latency = 0.02e-6, loop_latency = 0.165e-6;  // s, of a tap of a step, unrolled or not
constexpr double row_cycles = 0.35;   // of the first cache, for another row of a warp and tap
constexpr double step_fill = 0.4e-6;  // s, until a step has its first points
constexpr double mirror_slots = 10, constant_slots = 12;  // of a tap of a step beside walls
constexpr double offset_slots = 24;  // of an offset within reach, along three axes, before the taps
// Cycles of steps.cuh: until the first step, beside walls; a step; of all threads until each has a point, a
// source, or a point of tf32 rounded.
constexpr double tile_start = 600, tile_walls = 400, tile_step = 400, tile_load = 500, tile_source = 450,
                 tile_rounding = 84;

/// Issue slots of a point beside walls: what every kind of them takes of a tap, and of offsets before.
double wall_slots(const MarchModel& march) {
  bool constants = false, mirrors = false;
  for (const auto& faces : march.stencil.walls)
    for (const cuda::Wall wall : faces) {
      constants = constants || wall == cuda::Wall::dirichlet;
      mirrors = mirrors || wall == cuda::Wall::neumann;
    }
  const Index3 extent = tap_box(march.problem.stencil).extent();
  const auto taps = static_cast<double>(march.problem.stencil.taps().size());
  return taps * (constants * (march.fp64() ? 1.25 : 1.0) * constant_slots + mirrors * mirror_slots) +
         offset_slots * static_cast<double>(std::max({extent[z_axis], extent[y_axis], extent[x_axis]}));
}

/// The share of a step's warps that have points beside walls: they take both ways through the kernel.
double warps_beside_walls(const MarchModel& march, const std::array<std::int64_t, 3>& region) {
  const auto axes = cuda::grid_axes(march.problem.domain);
  const Index3 extent = tap_box(march.problem.stencil).extent();
  double inner = 1;
  for (const int axis : {plane_axis, row_axis, column_axis}) {
    if (!march.stencil.has_walls(axis)) continue;
    const bool band = region[axis] < march.shape[axis];
    // The end of a row and the beginning of the next lie in one warp.
    const double beside = static_cast<double>(extent[axes[axis]]) - 1 + (axis == column_axis ? 32 : 0);
    inner *= band ? 0 : std::max(0.0, 1 - beside / static_cast<double>(march.shape[axis]));
  }
  return 1 - inner;
}

}  // namespace

double step_seconds(const MarchModel& march, const std::array<std::int64_t, 3>& region) {
  const double fp32 = march.device.scalar_fp32, multiprocessors = march.device.multiprocessors;
  const double cycle = march.cycle();
  if (const auto tile = march.single_tile(region))
    return step_fill + cuda::cycles_of(*tile) * cycle / fastest_clock;
  const double value = std::max(4.0, static_cast<double>(storage_bytes(march.problem.precision)));
  const auto taps = static_cast<double>(march.problem.stencil.taps().size());
  const auto points = static_cast<double>(region[0] * region[1] * region[2]);
  if (taps > most_unrolled_taps)
    return taps * loop_latency * std::max(1.0, points / (1024 * multiprocessors));
  const double more_rows = std::max(0.0, 32 / static_cast<double>(region[column_axis]) - 1);  // of a warp
  const double first = taps * (value / 128 + more_rows * row_cycles / 32) * cycle / multiprocessors;
  const double second = second_level *
                        (cuda::rows_of_step(march.stencil, static_cast<double>(march.shape[column_axis])) +
                         march.problem.has_source) *
                        nominal_gpu().scalar_fp32 / fp32;
  const double slots = taps * march.rounding_slots() + warps_beside_walls(march, region) * wall_slots(march);
  return step_fill + points * (std::hypot(first, second) + slots / fp32) + taps * tap_latency;
}

double tile_seconds(const MarchModel& march, const cuda::StepTile& tile, int steps) {
  const bool tf32 = march.problem.precision == Precision::tf32, source = march.stencil.with_source;
  const double rounded = tf32 ? tile_rounding * tile.points : 0.0;
  const double cycles = (tile_load + rounded) * tile.load_turns + tile_step * steps +
                        (source ? tile_source : 0.0) * tile.turns + tile.turn_cycles * tile.turns +
                        rounded * tile.turns * (steps - 1) / steps;
  return (tile_start + (march.stencil.has_walls() ? tile_walls : 0.0) + tile.waves * cycles) * march.cycle() /
         fastest_clock;
}

}  // namespace spsolve
