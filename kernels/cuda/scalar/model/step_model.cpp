// SPDX-License-Identifier: Apache-2.0
// This file models kernels of the scalar unit that do not march: step.cuh (one thread per point),
// box_step.cuh, star_step.cuh and steps.cuh.
#include "kernels/cuda/scalar/model/march_model.hpp"
#include "kernels/cuda/scalar/single_step_tile.hpp"

namespace spsolve::cuda {
double step_seconds(const MarchModel& march, const std::array<std::int64_t, 3>& extent) {
  const Region region{{}, {extent[0], extent[1], extent[2]}};
  const double cycles =
      choose_single_step(march.stencil, region, {march.precision, true, true}, march.rates.limits).cycles;
  return march.costs().steps.fill + cycles * march.cycle() / march.costs().launch.fastest_clock;
}

double tile_seconds(const MarchModel& march, const SmallGridTile& tile, int steps) {
  const Calibration::Steps& costs = march.costs().steps;
  const bool tf32 = march.precision == Precision::tf32, source = march.stencil.with_source;
  const double rounded = tf32 ? costs.rounding * tile.points : 0.0;
  const double cycles = (costs.load + rounded) * tile.load_turns + costs.step * steps +
                        (source ? costs.source : 0.0) * tile.turns + tile.turn_cycles * tile.turns +
                        rounded * tile.turns * (steps - 1) / steps;
  return (costs.start + (march.stencil.has_walls() ? costs.walls : 0.0) + tile.waves * cycles) *
         march.cycle() / march.costs().launch.fastest_clock;
}

}  // namespace spsolve::cuda
