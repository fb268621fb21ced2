// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <complex>
#include <vector>

#include "kernels/domain.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// Returns the growth factor of one step beside neumann walls for weights that differ in the two directions
/// of the axis. No wave is an eigenvector there, and a field that is large beside a wall may grow although no
/// wave does. The factor comes from the powers of the matrix of a step, up to 2^14 steps, on the grid itself
/// or, if it has more than 64 points, on a smaller grid with the same walls. Returns 1 if nothing grows and
/// for all other weights and walls, whose growth factor the waves give.
double growth_beside_walls(const Stencil& stencil, const Domain& domain);

/// Returns the stencil of a part of an explicit Euler step: u + part (step(u) - u).
Stencil part_of_step(const Stencil& stencil, double part);

/// Holds the wave numbers of each axis {z, y, x}, in radians per point.
using AxisWaveNumbers = std::array<std::vector<double>, 3>;

/// Returns the wave numbers of each axis, of which sampled_waves() (kernels/stencil.hpp) are all
/// combinations.
AxisWaveNumbers sampled_axes(const Index3& shape);

/// Returns all combinations of the wave numbers of the axes, x fastest.
std::vector<std::array<double, 3>> combinations_of(const AxisWaveNumbers& waves);

/// Returns the symbol of one step at combinations_of(waves).
std::vector<std::complex<double>> symbols_at(const Stencil& stencil, const AxisWaveNumbers& waves);

}  // namespace spsolve
