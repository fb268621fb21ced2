// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/precision.hpp"
#include "kernels/sparse/mma_shape.hpp"
#include "kernels/sparse/operand.hpp"
#include "kernels/unit_kind.hpp"

namespace spsolve {

/// Returns the operand of the emulation on a grid of `shape` points: strided swap with the fewest
/// instructions per output among tiles of at most max(16, L) outputs, or morph with marching_tile(), the tile
/// of kernels. Throws std::invalid_argument for layouts that are not one sparse operand: see
/// dual_tessellation() and separate().
Operand sparse_operand(const Stencil& stencil, Layout layout, const MmaShape& mma, const Index3& shape);

/// Returns the instructions per output of an operand whose tiles are fully used.
double mma_per_output(const Operand& operand, const MmaShape& mma);

/// Returns true if tensor cores, real or emulated, accept operands of this precision in this layout. fp64 has
/// the dense layouts only (fp64_layout()); all other precisions have the sparse layouts only.
constexpr bool supports(Layout layout, Precision precision) {
  const bool is_dense = layout == Layout::natural_order || layout == Layout::dual_tessellation;
  return is_dense == (precision == Precision::fp64);
}

}  // namespace spsolve
