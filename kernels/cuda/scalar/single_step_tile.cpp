// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/scalar/single_step_tile.hpp"

#include "kernels/cuda/launch/launch_shape.hpp"
#include "kernels/cuda/scalar/point_step_cycles.hpp"

namespace spsolve::cuda {

SingleStep choose_single_step(const KernelStencil& stencil, const Region& region, const Formats& formats,
                              const BlockLimits& limits) {
  const int rows = stencil.tile_axis(), slow = stencil.slow_axis();
  for (int axis = 0; axis < axis_count; ++axis)
    if (region.extent(axis) < 1) return {};  // a band beside a wall may be empty
  SingleStep best{{}, point_step_cycles(stencil, region, formats, limits)};
  if (stencil.folded != std::array<bool, 3>{} || stencil.radius[rows] == 0) return best;
  const auto consider = [&](const auto& tile) {
    if (tile.blocks_per_multiprocessor == 0 || tile.cycles >= best.cycles ||
        ceil_div(region.extent(rows), tile.rows) > max_blocks_across ||
        ceil_div(region.extent(slow), tile.planes) > max_blocks_across)
      return;
    best = {tile, tile.cycles};
  };
  for (const int lanes_x : {8, 4, 2})
    for (const int warps : {8, 4, 2, 1})
      for (const int planes : {1, 2})
        consider(cut_box_step_tile(stencil, region, formats, limits, lanes_x, warps, planes));
  for (const int lanes_x : {8, 16, 32})
    for (const int warps : {4, 8, 16})
      for (const int own_rows : {1, 2, 4, 8})
        consider(cut_star_step_tile(stencil, region, formats, limits, lanes_x, warps, own_rows));
  return best;
}

}  // namespace spsolve::cuda
