// SPDX-License-Identifier: Apache-2.0
// Kernels of the scalar unit that do not march: step.cuh, one thread per point, box_step.cuh, star_step.cuh
// and steps.cuh.
#include "kernels/cuda/scalar/single_step_tile.hpp"
#include "solver/plan/model_march.hpp"

namespace spsolve {
namespace {

// Measured on H200 (docs/plan.md).
constexpr double step_fill = 0.4e-6;  // s, until a step has its first points
// Cycles of steps.cuh: until the first step, beside walls; a step; of all threads until each has a point, a
// source, or a point of tf32 rounded.
constexpr double tile_start = 600, tile_walls = 400, tile_step = 400, tile_load = 500, tile_source = 450,
                 tile_rounding = 84;

}  // namespace

double step_seconds(const MarchModel& march, const std::array<std::int64_t, 3>& extent) {
  const cuda::Region region{{}, {extent[0], extent[1], extent[2]}};
  const double cycles =
      cuda::choose_single_step(march.stencil, region, {march.problem.precision, true, true}, march.limits)
          .cycles;
  return step_fill + cycles * march.cycle() / fastest_clock;
}

double tile_seconds(const MarchModel& march, const cuda::SmallGridTile& tile, int steps) {
  const bool tf32 = march.problem.precision == Precision::tf32, source = march.stencil.with_source;
  const double rounded = tf32 ? tile_rounding * tile.points : 0.0;
  const double cycles = (tile_load + rounded) * tile.load_turns + tile_step * steps +
                        (source ? tile_source : 0.0) * tile.turns + tile.turn_cycles * tile.turns +
                        rounded * tile.turns * (steps - 1) / steps;
  return (tile_start + (march.stencil.has_walls() ? tile_walls : 0.0) + tile.waves * cycles) * march.cycle() /
         fastest_clock;
}

}  // namespace spsolve
