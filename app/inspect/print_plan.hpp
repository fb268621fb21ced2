// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/setup/setup.hpp"
#include "app/setup/terminal.hpp"

namespace spsolve {

/// Prints the candidates that the plan was chosen from, why, and how the chosen one scales.
void print_plan(const Setup& setup, const DeviceModel& device, const Terminal& terminal);

/// Prints every tile that the morph layout of the fastest such candidate may have, with what the search of
/// SparStencil (equations 6 to 9) says of it. Throws Error(invalid_input) where no candidate is morphed.
void print_layouts(const Setup& setup, const DeviceModel& device, const Terminal& terminal);

}  // namespace spsolve
