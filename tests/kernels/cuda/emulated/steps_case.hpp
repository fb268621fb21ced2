// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scalar_case.hpp"

namespace spsolve::cuda {

/// Lists the cases of steps.cuh, whose grids have no rows.
inline const StepCase steps_cases[] = {
    {{"plate", {1, 61, 83}, {0, 2, 2}, true, neumann, fp32}, 9, no_walls, mirrors, values},
    {{"mixed", {1, 41, 37}, {0, 2, 1}, false, neumann, fp64}, 4, no_walls, mirror_first, mirror_last},
    {{"thin", {1, 3, 29}, {0, 4, 2}, false, neumann, tf32}, 3, no_walls, mirrors, no_walls},
    {{"thin_mixed", {1, 31, 3}, {0, 1, 5}, false, neumann, fp64}, 5, no_walls, no_walls, mirror_first},
    {{"box", {1, 53, 61}, {0, 3, 3}, false, neumann, fp32}, 3, no_walls, mirror_last, mirrors, {0, 1, 1}},
    {{"torus", {1, 47, 43}, {0, 1, 3}, false, periodic, fp32}, 5, no_walls, no_walls, no_walls},
};

}  // namespace spsolve::cuda
