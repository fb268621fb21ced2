// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/star_tile.hpp"
#include "scalar_case.hpp"

namespace spsolve::cuda {

/// Of star_step.cuh.
struct StarStepCase {
  StepCase step;
  int lanes_x, warps, own_rows, stages, planes;

  std::string_view name() const { return step.name(); }
  StarTile tile() const {
    const auto& shape = step.stencil().shape;
    StarTile tile = cut_star_tile(step.stencil(), {{0, 0, 0}, {shape[0], shape[1], shape[2]}}, step.formats(),
                                  {}, lanes_x, warps, own_rows);
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
      true},
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
      true},
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
      true},
     8,
     1,
     1,
     4,
     7},
};

}  // namespace spsolve::cuda
