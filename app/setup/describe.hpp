// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/setup/setup.hpp"
#include "app/setup/terminal.hpp"

namespace spsolve {

/// "256 x 256 x 256" without absent axes.
std::string extent_text(const Index3& extent, int dimensions);

/// Prints the problem, the plan and where to read more of it, the ranks and the memory they take, before the
/// run. Collective.
void print_summary(const Communicator& communicator, const Setup& setup, const Terminal& terminal,
                   const std::string& hint = "; see spsolve plan");

/// Warns where the weights amplify some wave, with the largest stable time step where there is
/// one.
void warn_of_growth(const Setup& setup, const Terminal& terminal);

}  // namespace spsolve
