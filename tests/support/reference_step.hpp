// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/step_context.hpp"

namespace spsolve {

/// Takes one time step of a system on the whole grid in double. This defines the correct answer. The
/// statements are interpreted as they are written, one after the other. Beyond faces each field has the ghost
/// values of its own walls (numpy.pad, axis by axis in the order x, y, z); `.next` has them too. The function
/// does not use the canonical form.
SystemState<double> reference_step(const System& system, const StepContext& context,
                                   const SystemState<double>& state);

/// Takes `steps` time steps, each as reference_step() does.
SystemState<double> reference_steps(const System& system, const StepContext& context,
                                    SystemState<double> state, int steps);

}  // namespace spsolve
