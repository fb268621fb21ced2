// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/operator/interpret_rows.hpp"
#include "kernels/operator/system_facts.hpp"

namespace spsolve {

/// Calls `use` with the rows of a derived coefficient in `box`, as interpret_rows() does. The values repeat
/// beyond the ends of axes along which the coefficient repeats (repeats_along()), coordinates included.
void interpret_coefficient(
    const Canonical& canonical, const SystemFacts& facts, std::size_t coefficient, const Domain& domain,
    const Box& box, const LeafRow& leaf,
    const std::function<void(const Index3& first, std::span<const double> values)>& use);

}  // namespace spsolve
