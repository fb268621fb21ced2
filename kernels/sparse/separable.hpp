// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "kernels/stencil.hpp"

namespace spsolve {

/// Holds a rank-one part of a stencil: w[z, y, x] = factor[z_axis][z] factor[y_axis][y] factor[x_axis][x].
/// The factor of an axis without extent is 1, so no pass is needed along it. The other factors have equal
/// norms.
struct SeparableTerm {
  std::array<std::vector<double>, axis_count> factor;
};

/// Holds a stencil as a sum of rank-one terms, largest first.
struct SeparableStencil {
  Box taps;  // the offsets that the factors cover
  std::vector<SeparableTerm> terms;
  double dropped;  // sum |W - sum of terms| / sum |W|
};

/// Returns the fewest rank-one terms with sum |W - terms| <= tolerance * sum |W|. The relative error of one
/// application in any p-norm is then at most tolerance * sum |W| (Young's inequality), whatever the data.
///
/// In 2D the method is singular value decomposition. In 3D several decompositions are tried, and the one with
/// the fewest terms is returned: nested decompositions (one axis against the other two, then those two
/// against each other, in any order); a decomposition of each plane across any axis; and one with bases along
/// z and x. The last is preferred among equals, because its terms share factors. Terms are orthogonal, so
/// they are kept in order of their norm. Terms below the rounding error of the decomposition are always
/// dropped.
SeparableStencil separate(const Stencil& stencil, double tolerance);

/// Returns sum |value|, the measure of `dropped`.
double sum_abs(const std::vector<double>& values);

/// Returns the sum of the terms as dense weights over `taps`, x fastest.
std::vector<double> dense_weights(const SeparableStencil& separable);

/// Returns one factor as a stencil along its axis. Applying the factors of all axes in succession applies the
/// term.
Stencil axis_stencil(const SeparableStencil& separable, const SeparableTerm& term, int axis);

}  // namespace spsolve
