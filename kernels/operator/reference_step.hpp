// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/operator/system.hpp"

namespace spsolve {

/// One time step of a system on the whole grid in double: the definition of a correct answer. The statements
/// are interpreted as they are written, one after the other; beyond faces fields have the ghost values of
/// their own walls (numpy.pad, axis by axis in the order x, y, z), `.next` of what the statement above has
/// made. Knows nothing of the canonical form.
SystemState<double> reference_step(const System& system, const Surroundings& surroundings,
                                   const SystemState<double>& state);

/// `steps` such steps.
SystemState<double> reference_steps(const System& system, const Surroundings& surroundings,
                                    SystemState<double> state, int steps);

}  // namespace spsolve
