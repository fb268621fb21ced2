// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/operator/canonical.hpp"
#include "kernels/operator/system.hpp"

namespace spsolve {

/// One time step by the canonical form on the whole grid, in precision T (float or double), by plain loops
/// over points. Units have these bits at every point. Beyond faces as `reference_step`.
template <class T>
SystemState<T> canonical_step(const Canonical& canonical, const Surroundings& surroundings,
                              const SystemState<T>& state);

/// `steps` such steps.
template <class T>
SystemState<T> canonical_steps(const Canonical& canonical, const Surroundings& surroundings,
                               SystemState<T> state, int steps) {
  for (int step = 0; step < steps; ++step) state = canonical_step(canonical, surroundings, state);
  return state;
}

extern template SystemState<float> canonical_step(const Canonical&, const Surroundings&,
                                                  const SystemState<float>&);
extern template SystemState<double> canonical_step(const Canonical&, const Surroundings&,
                                                   const SystemState<double>&);

}  // namespace spsolve
