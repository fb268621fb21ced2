// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/domain.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// Growth factor of one step where no waves tell it: beside neumann walls, of weights that differ in the two
/// directions of the axis, which may feed a field that leans on a wall. From the powers of the matrix of a
/// step, up to 2^14 steps, of the grid or, if it has more than 64 points, of a smaller one of the same walls.
/// 1 where nothing grows, and where waves tell.
double growth_beside_walls(const Stencil& stencil, const Domain& domain);

/// The part of a step: u + part (step(u) - u), an Euler step of part of its time.
Stencil part_of_step(const Stencil& stencil, double part);

}  // namespace spsolve
