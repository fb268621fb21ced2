// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "kernels/operator/system.hpp"

namespace spsolve {

/// Returns the value of a leaf (a coordinate, a coefficient, a time or a field) at a point, which may lie
/// beyond the faces of the grid.
using LeafValue = std::function<double(const Term& leaf, const Index3& p)>;

/// Returns the values of a term at the points of `box`, x fastest, in double. Operations are those of
/// apply(), and weighted sums are plain loops over their taps.
std::vector<double> interpret(const Terms& terms, TermId id, const Box& box, const LeafValue& leaf);

/// Returns the box of points at which interpret() asks for coefficients; it is empty if interpret() asks for
/// none.
Box coefficient_leaves(const Terms& terms, TermId id, const Box& box);

/// Returns the smallest box that holds two boxes, of which one may be empty.
Box hull_of(const Box& a, const Box& b);

}  // namespace spsolve
