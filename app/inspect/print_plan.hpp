// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/setup/setup.hpp"
#include "app/setup/terminal.hpp"

namespace spsolve {

/// Prints the candidates, the reason for the choice, and how the chosen candidate scales.
void print_plan(const Setup& setup, const DeviceModel& device, const Terminal& terminal);

/// Prints every tile of the morph layout of the fastest candidate with that layout, and the model of
/// SparStencil (equations 6 to 9) for each. Throws Error(invalid_input) if no candidate has the morph layout.
void print_layouts(const Setup& setup, const DeviceModel& device, const Terminal& terminal);

}  // namespace spsolve
