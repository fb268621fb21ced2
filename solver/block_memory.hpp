// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "halo/decomposition.hpp"
#include "kernels/sampling.hpp"
#include "solver/plan/method.hpp"
#include "solver/problem.hpp"

namespace spsolve {

/// Returns the bytes of the fields of the largest block: those of the state, the coefficients of equations,
/// one for the source, and two while the fused source is made. Exchange buffers are not included. The result
/// is an upper bound, because it includes halos along axes where units wrap indices.
std::size_t block_bytes(const Problem& problem, const Decomposition& decomposition, const Method& method,
                        int exchange_every = 1);

/// Returns the bytes of a copy of the largest block with this sampling.
std::size_t copy_bytes(const Decomposition& decomposition, const Sampling& sampling);

}  // namespace spsolve
