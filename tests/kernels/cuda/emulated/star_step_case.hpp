// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/scalar/star_step_tile.hpp"
#include "scalar_case.hpp"

namespace spsolve::cuda {

/// Describes a case of star_step.cuh.
struct StarStepCase {
  StepCase step;
  int lanes_x, warps, own_rows, stages, planes;

  std::string_view name() const { return step.name(); }
  StarStepTile tile() const {
    const KernelStencil stencil = step.stencil();
    StarStepTile tile =
        cut_star_step_tile(stencil, stencil.grid(), step.formats(), {}, lanes_x, warps, own_rows);
    tile.planes = planes;
    tile.stages = stages;
    return tile;
  }
  std::string constants() const { return constants_text(step.stencil(), step.formats(), tile()); }
};

inline const StarStepCase star_step_cases[] = {
    {{{"star", {23, 37, 70}, {4, 5, 4}, true, neumann, fp32}, 1, mirror_first, mirror_first, mirror_first},
     8,
     1,
     2,
     3,
     9},
    {{{"star_fp64", {17, 41, 67}, {6, 4, 5}, true, neumann, fp64},
      1,
      mirror_last,
      mirrors,
      values,
      {},
      false},
     8,
     2,
     1,
     2,
     17},
    {{{"thin", {3, 4, 17}, {5, 6, 6}, true, dirichlet, tf32}, 1, mirror_last, mirror_last, mirror_last},
     8,
     1,
     2,
     4,
     2},
    {{{"box", {11, 19, 40}, {2, 2, 1}, false, neumann, fp32}, 1, mirrors, values, mirrors}, 16, 1, 1, 3, 5},
    {{{"plane", {1, 150, 300}, {0, 12, 11}, true, dirichlet, fp32}, 1, no_walls, mirror_last, mirror_first},
     16,
     2,
     2,
     1,
     1},
    {{{"layers", {53, 5, 61}, {7, 0, 8}, true, dirichlet, fp64}, 1, mirror_first, no_walls, values},
     8,
     1,
     2,
     2,
     3},
    {{{"star_fp16", {13, 27, 71}, {3, 4, 5}, true, neumann, fp16}, 1, mirror_last, values, mirror_first},
     8,
     1,
     1,
     4,
     7},
    {{{"star_bf16", {1, 83, 171}, {0, 6, 9}, true, neumann, bf16}, 1, no_walls, mirrors, values},
     8,
     2,
     2,
     1,
     1},
    {{{"torus", {6, 37, 45}, {3, 2, 9}, true, periodic, fp32}, 1, no_walls, no_walls, no_walls, {}, false},
     32,
     1,
     2,
     2,
     6},
    {{{"rows", {13, 37, 132}, {4, 5, 7}, true, periodic, fp32},
      1,
      values,
      mirror_last,
      no_walls,
      {},
      true,
      {0, 0, 1}},
     8,
     1,
     2,
     3,
     9},
    {{{"rows_fp64", {9, 23, 10}, {3, 4, 8}, true, periodic, fp64},
      1,
      no_walls,
      no_walls,
      no_walls,
      {},
      true,
      {1, 1, 1}},
     8,
     1,
     1,
     2,
     5},
    {{{"rows_bf16", {7, 19, 200}, {2, 3, 6}, true, periodic, bf16},
      1,
      mirrors,
      no_walls,
      no_walls,
      {},
      false,
      {0, 1, 1}},
     8,
     1,
     1,
     4,
     7},
    {{{"wraps_fp16", {9, 37, 71}, {4, 5, 7}, true, periodic, fp16},
      1,
      no_walls,
      no_walls,
      values,
      {},
      true,
      {1, 1, 0}},
     8,
     1,
     4,
     3,
     9},
    {{{"plane_repeats", {1, 83, 172}, {0, 6, 9}, true, periodic, fp32},
      1,
      no_walls,
      no_walls,
      no_walls,
      {},
      true,
      {0, 1, 1}},
     8,
     2,
     8,
     1,
     1},
};

}  // namespace spsolve::cuda
