// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/operator/canonical.hpp"
#include "tests/support/step_context.hpp"

namespace spsolve {

/// Takes one time step of the canonical form on the whole grid, in precision T (float or double), by plain
/// loops over points. Units compute the same bits at every point. Values beyond faces are those of
/// reference_step().
template <class T>
SystemState<T> canonical_step(const Canonical& canonical, const StepContext& context,
                              const SystemState<T>& state);

extern template SystemState<float> canonical_step(const Canonical&, const StepContext&,
                                                  const SystemState<float>&);
extern template SystemState<double> canonical_step(const Canonical&, const StepContext&,
                                                   const SystemState<double>&);

}  // namespace spsolve
