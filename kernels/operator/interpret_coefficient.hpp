// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/operator/canonical.hpp"
#include "kernels/operator/interpret_rows.hpp"

namespace spsolve {

/// Calls `use` with the rows of a derived coefficient in `box`, as interpret_rows() does. The values repeat
/// beyond the ends of periodic axes.
void interpret_coefficient(
    const Canonical& canonical, std::size_t coefficient, const Domain& domain, const Box& box,
    const LeafRow& leaf, const std::function<void(const Index3& first, std::span<const double> values)>& use);

}  // namespace spsolve
