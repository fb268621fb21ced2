// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/setup/setup.hpp"
#include "app/setup/terminal.hpp"
#include "halo/communicator.hpp"

namespace spsolve {

/// Warns if a step amplifies some wave, and names the largest stable time step of a preset. Equations that
/// are not linear are not examined. Those with coefficients are left to print_growth(), because examining
/// their points takes long. Collective.
void warn_of_growth(const Communicator& communicator, const Setup& setup, const Terminal& terminal);

/// Prints the spectral radius of a step of equations, if it is linear, with the values of some points in
/// place of coefficients that vary. Warns if a wave grows, with the largest stable time step if there is one.
/// Throws Error(invalid_input) if the format of the run cannot hold a derived coefficient. Collective.
void print_growth(const Communicator& communicator, const Setup& setup, const Terminal& terminal);

/// Returns true if print_growth() would look for the largest stable time step where a wave grows: the
/// equations are linear, with few unknowns, and their weights depend on the time step. Collective.
bool looks_for_stable_step(const Communicator& communicator, const Setup& setup);

}  // namespace spsolve
