// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "kernels/operator/system.hpp"

namespace spsolve {

/// The value of a coordinate, a coefficient, a time or a field (a term without operands that is no number)
/// at a point, which may lie beyond the faces of the grid.
using LeafValue = std::function<double(const Term& leaf, const Index3& p)>;

/// Returns a term at the points of `box`, x fastest, in double, every operation as `apply` has it and
/// weighted sums as plain loops over their taps.
std::vector<double> interpret(const Terms& terms, TermId id, const Box& box, const LeafValue& leaf);

/// Returns the box of points at which interpret() asks for coefficients; empty if it asks for none.
Box coefficient_leaves(const Terms& terms, TermId id, const Box& box);

/// Coordinates, coefficients, t and n of the surroundings; throws std::logic_error for fields.
LeafValue given_values(const Surroundings& surroundings, std::int64_t step);

/// Returns the smallest box that holds two, of which one may be empty.
Box hull_of(const Box& a, const Box& b);

}  // namespace spsolve
