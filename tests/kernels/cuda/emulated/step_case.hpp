// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scalar_case.hpp"

namespace spsolve::cuda {

/// Lists the cases of step.cuh.
inline const StepCase step_cases[] = {
    {{"box", {9, 11, 13}, {2, 2, 2}, false, neumann, fp32}, 1, mirror_first, mirror_first, mirror_first},
    {{"thin", {5, 4, 17}, {3, 5, 6}, true, dirichlet, fp64}, 1, mirror_last, mirror_last, mirror_last},
    {{"box_in_loops", {9, 10, 12}, {4, 4, 4}, false, neumann, tf32}, 1, mirrors, mirrors, mirrors},
    {{"folded", {7, 19, 23}, {1, 1, 1}, false, neumann, fp64}, 1, mirrors, mirrors, mirrors, {1, 1, 1}},
    {{"plane", {1, 23, 31}, {0, 2, 3}, false, dirichlet, fp32}, 1, no_walls, mirror_last, mirror_last},
    {{"box_fp16", {7, 9, 21}, {1, 2, 2}, false, neumann, fp16}, 1, mirrors, values, mirror_last},
    {{"torus", {6, 7, 8}, {1, 2, 1}, false, periodic, fp32}, 1, no_walls, no_walls, no_walls},
    {{"rows", {6, 7, 12}, {1, 2, 9}, true, neumann, fp32}, 1, mirrors, values, no_walls, {}, true, {0, 0, 1}},
    {{"rows_in_loops", {5, 6, 24}, {4, 4, 4}, false, periodic, fp16},
     1,
     mirrors,
     no_walls,
     no_walls,
     {},
     true,
     {0, 1, 1}},
    {{"wraps", {6, 7, 11}, {1, 2, 3}, false, periodic, fp64},
     1,
     no_walls,
     no_walls,
     no_walls,
     {},
     true,
     {1, 1, 1}},
    {{"plane_repeats", {1, 23, 31}, {0, 3, 2}, true, periodic, fp32},
     1,
     no_walls,
     no_walls,
     values,
     {},
     true,
     {0, 1, 0}},
};

}  // namespace spsolve::cuda
