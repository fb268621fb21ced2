// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/setup/setup.hpp"
#include "app/setup/terminal.hpp"

namespace spsolve {

/// Prints the candidates, the reason for the choice, and how the chosen candidate scales.
void print_plan(const Setup& setup, const DeviceModel& device, const Terminal& terminal);

}  // namespace spsolve
