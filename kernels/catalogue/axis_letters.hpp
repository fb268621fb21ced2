// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/box.hpp"

/// Names the axes by one letter, as the formulas of the catalogue do.
namespace spsolve::axis_letters {

constexpr int x = x_axis, y = y_axis, z = z_axis;

}  // namespace spsolve::axis_letters
