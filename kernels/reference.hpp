// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/domain.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// Takes one time step on the whole grid in double by plain loops. This defines the correct answer
/// (docs/internals/numerics.md). `u` and `source` (null for none) have domain.shape, x fastest.
std::vector<double> reference_step(const Domain& domain, const Stencil& stencil, const std::vector<double>& u,
                                   const std::vector<double>* source = nullptr);

/// Takes `steps` single time steps.
std::vector<double> reference_steps(const Domain& domain, const Stencil& stencil, std::vector<double> u,
                                    int steps, const std::vector<double>* source = nullptr);

}  // namespace spsolve
