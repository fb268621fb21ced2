// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/precision.hpp"
#include "kernels/sparse/mma_shape.hpp"
#include "kernels/sparse/operand.hpp"
#include "kernels/unit_kind.hpp"

namespace spsolve {

/// The strided-swap or morph operand that takes the fewest instructions per output on a grid of `shape`
/// points, among tiles of at most max(16, L) outputs. Throws std::invalid_argument for the layouts that are
/// not one sparse operand: see dual_tessellation() and separate().
Operand sparse_operand(const Stencil& stencil, Layout layout, const MmaShape& mma, const Index3& shape);

/// Instructions per output of an operand on tiles that are used whole.
double mma_per_output(const Operand& operand, const MmaShape& mma);

/// Whether tensor cores take operands of this precision in this layout: fp64 only dense (dual-tessellation),
/// all others only the sparse layouts.
constexpr bool takes(Layout layout, Precision precision) {
  if (precision == Precision::fp64) return layout == Layout::dual_tessellation;
  return layout != Layout::dual_tessellation;
}

}  // namespace spsolve
