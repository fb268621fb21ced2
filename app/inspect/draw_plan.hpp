// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "app/setup/setup.hpp"

namespace spsolve {

/// Draws the candidates of a plan under the rooflines of their units (paper 003, figures 2 and 8): executed
/// flop/s in the model over executed flop/B, one line per unit and layout, each point with its depth t. Full
/// markers are in the sweet spot. Returns the bytes of a PNG file. Throws Error(invalid_input) for plans of
/// systems of equations, whose candidates have no roofline.
std::string draw_plan(const Setup& setup, const DeviceModel& device);

}  // namespace spsolve
