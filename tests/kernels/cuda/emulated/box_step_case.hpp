// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/scalar/box_step_tile.hpp"
#include "scalar_case.hpp"

namespace spsolve::cuda {

/// Describes a case of box_step.cuh.
struct BoxStepCase {
  StepCase step;
  int lanes_x, warps, planes;

  std::string_view name() const { return step.name(); }
  BoxStepTile tile() const {
    const KernelStencil stencil = step.stencil();
    return cut_box_step_tile(stencil, stencil.grid(), step.formats(), {}, lanes_x, warps, planes);
  }
  std::string constants() const { return constants_text(step.stencil(), step.formats(), tile()); }
};

inline const BoxStepCase box_step_cases[] = {
    {{{"box", {5, 37, 70}, {2, 3, 2}, false, neumann, fp32}, 1, mirror_first, mirror_first, mirror_first},
     2,
     1,
     2},
    {{{"box_fp64", {4, 41, 67}, {3, 1, 4}, false, neumann, fp64}, 1, mirror_last, mirrors, values}, 4, 2, 1},
    {{{"thin", {3, 4, 17}, {3, 5, 6}, false, dirichlet, tf32}, 1, mirror_last, mirror_last, mirror_last},
     2,
     1,
     1},
    {{{"holes", {6, 19, 40}, {3, 3, 3}, true, neumann, fp32}, 1, mirrors, values, mirrors, {}, false},
     8,
     1,
     2},
    {{{"plane", {1, 150, 300}, {0, 9, 10}, false, dirichlet, fp32}, 1, no_walls, mirror_last, mirror_first},
     8,
     2,
     1},
    {{{"layers", {23, 3, 61}, {5, 0, 3}, false, dirichlet, fp64}, 1, mirror_first, no_walls, values},
     2,
     1,
     1},
    {{{"rounded", {4, 35, 171}, {2, 4, 3}, true, dirichlet, tf32}, 1, mirrors, mirror_first, values},
     4,
     1,
     2},
    {{{"box_fp16", {5, 31, 77}, {2, 2, 3}, false, neumann, fp16}, 1, values, mirrors, mirror_last}, 2, 1, 2},
    {{{"box_bf16", {1, 70, 131}, {0, 5, 6}, false, neumann, bf16}, 1, no_walls, mirror_first, mirrors},
     4,
     1,
     1},
    {{{"torus", {6, 37, 45}, {1, 2, 9}, false, periodic, fp32}, 1, no_walls, no_walls, no_walls}, 4, 1, 2},
    {{{"rows", {6, 37, 84}, {1, 2, 9}, false, periodic, fp32},
      1,
      mirrors,
      values,
      no_walls,
      {},
      true,
      {0, 0, 1}},
     4,
     1,
     2},
    {{{"rows_fp16", {5, 31, 16}, {2, 2, 5}, false, periodic, fp16},
      1,
      no_walls,
      no_walls,
      no_walls,
      {},
      true,
      {1, 1, 1}},
     2,
     1,
     1},
    {{{"wraps", {6, 37, 45}, {1, 2, 9}, false, periodic, fp32},
      1,
      no_walls,
      no_walls,
      mirrors,
      {},
      true,
      {1, 1, 0}},
     4,
     1,
     2},
    {{{"plane_repeats", {1, 70, 136}, {0, 5, 6}, false, periodic, bf16},
      1,
      no_walls,
      no_walls,
      no_walls,
      {},
      true,
      {0, 1, 1}},
     4,
     1,
     1},
    {{{"columns", {7, 33, 70}, {2, 3, 0}, false, neumann, fp32}, 1, mirrors, values, mirror_first}, 4, 1, 1},
};

}  // namespace spsolve::cuda
