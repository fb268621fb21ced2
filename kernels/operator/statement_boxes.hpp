// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/operator/system_facts.hpp"

namespace spsolve {

/// Returns the box on which each statement must be computed so that all results are known on `region`. It is
/// the region grown by the offsets at which later statements read the `.next`, clipped to walls.
std::vector<Box> statement_boxes(const SystemFacts& facts, const Domain& domain, const Box& region);

/// Returns how far around a region a step reads fields, or computes statements that others read at displaced
/// points.
Index3 halo_radius(const SystemFacts& facts, const Domain& domain);

}  // namespace spsolve
