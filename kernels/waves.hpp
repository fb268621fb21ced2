// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <complex>
#include <vector>

#include "kernels/box.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// Wave numbers of each axis {z, y, x}, in radians per point.
using AxisWaveNumbers = std::array<std::vector<double>, 3>;

/// Returns the wave numbers of each axis, of which sampled_waves() (kernels/stencil.hpp) are all
/// combinations.
AxisWaveNumbers sampled_axes(const Index3& shape);

/// Returns all combinations of the wave numbers of the axes, x fastest.
std::vector<std::array<double, 3>> combinations_of(const AxisWaveNumbers& waves);

/// Returns the symbol of one step at combinations_of(waves).
std::vector<std::complex<double>> symbols_at(const Stencil& stencil, const AxisWaveNumbers& waves);

/// Returns true if the weights are the same in both directions of an axis.
bool is_even(const Stencil& stencil, int axis);

}  // namespace spsolve
