// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "kernels/no_kernel.hpp"
#include "kernels/operator/system_facts.hpp"

namespace spsolve {

/// Returns the box on which each statement must be computed so that all results are known on `region`. It is
/// the region grown by the offsets at which later statements read the `.next`, clipped to walls.
std::vector<Box> statement_boxes(const SystemFacts& facts, const Domain& domain, const Box& region);

/// Returns how far around a region a step reads fields, or computes statements that others read at displaced
/// points.
Index3 halo_radius(const SystemFacts& facts, const Domain& domain);

/// Returns true if a derived coefficient repeats beyond the ends of an axis: the axis is periodic, and
/// equations read the coefficient nowhere but at the point itself along it. A coordinate in a coefficient
/// that they read displaced continues there instead: of the last point's neighbour, not of the first point.
bool repeats_along(const SystemFacts& facts, std::size_t coefficient, const Domain& domain, int axis);

/// Returns a periodic axis along which a statement is computed beyond the ends of the grid although it reads
/// a coordinate of that axis in a coefficient that does not repeat, if there is one. Fields repeat beyond the
/// ends, so the result there would differ from the statement's value at the corresponding grid point. `steps`
/// are taken between two exchanges of halos; all but the last of several are computed beyond the ends.
std::optional<int> axis_of_ambiguous_coordinate(const Canonical& canonical, const SystemFacts& facts,
                                                const Domain& domain, int steps = 1);

/// Returns why no launch takes several steps of a system on any device, or nothing if one may. `fields` hold
/// the walls of each field.
std::optional<NoKernel> why_single_steps(const Canonical& canonical, const SystemFacts& facts,
                                         const std::vector<Domain>& fields, int steps);

}  // namespace spsolve
