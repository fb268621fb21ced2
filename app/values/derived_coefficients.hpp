// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "app/values/values.hpp"
#include "kernels/operator/interpret_rows.hpp"
#include "solver/block.hpp"

namespace spsolve {

/// Returns the points of the input's coefficients from which the derived coefficients on `box` are computed.
Box coefficient_leaves(const Equations& equations, const Box& box);

/// Returns coordinates and coefficients of an input by rows.
LeafRow leaf_rows(const Grid& grid, const CoefficientValues& values);

/// Throws Error(invalid_input) on all ranks if a derived coefficient on a box is a number that the format of
/// the run cannot hold. `values` holds coefficient_leaves() of the box. Collective.
void require_derived_in_range(const Communicator& communicator, const RunConfig& config,
                              const Problem& problem, const CoefficientValues& values, const Box& box);

/// Computes the derived coefficients of a block's equations from the coefficients of the input, and sets them
/// in the block. Coefficients of a single stencil are only read: sums and point sources may use them. Returns
/// the facts of the input's coefficients by the names of value_sections(). Throws Error(invalid_input) on all
/// ranks if the format of the run cannot hold one of the numbers. Collective.
std::map<std::string, ValueFacts> fill_coefficients(const Communicator& communicator, const RunConfig& config,
                                                    const Problem& problem, Block& block);

}  // namespace spsolve
