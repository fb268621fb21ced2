// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>

#include "kernels/strides/step_matrix.hpp"
#include "solver/problem.hpp"

namespace spsolve {

/// Returns the equation of a problem that strides (StridedUnit) may take: one field, two time levels,
/// constant weights and no other terms. Otherwise returns the reason, as the end of a sentence.
std::variant<TwoLevelEquation, std::string> strided_equation(const Problem& problem);

/// Returns the grid of this problem with Domain::reflected set for axes whose walls keep reflections for
/// `steps` steps. These are neumann walls and { value = 0 } walls of symmetric weights, and { dirichlet = 0 }
/// walls of symmetric weights of radius 1.
Domain stride_domain(const Problem& problem, int steps);

}  // namespace spsolve
