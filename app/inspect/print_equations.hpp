// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/setup/setup.hpp"
#include "app/setup/terminal.hpp"

namespace spsolve {

/// Prints how the equations of an input were understood: the canonical form, the fields that each equation
/// reads and whether it is linear, and the bytes that a step must move. Then prints the spectral radius of a
/// step, if it is linear, with the values of some points in place of coefficients that vary. Warns if a wave
/// grows, with the largest stable time step if there is one. Collective.
void print_equations(const Communicator& communicator, const Setup& setup, const Terminal& terminal);

}  // namespace spsolve
