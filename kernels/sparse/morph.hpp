// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/sparse/conflict_graph.hpp"
#include "kernels/sparse/operand.hpp"

namespace spsolve {

/// What stands together in a group of four columns of a morphed operand.
enum class Pairing {
  columns,  // two pairs of columns that no row shares: one_of_two, half precision and tf32
  x_pairs,  // two aligned pairs (x, x + 1), x even, that no row shares: two_of_four, half precision only. A
            // 32-bit register of B is then one 32-bit load; needs a tile of even extent along x
};

/// Fewest-zero-columns matching of a weight matrix made by crush(): algorithm 1 where it meets the lower
/// bound (the theorem's staircase), Blossom on the used columns otherwise; of more than 2048 used columns
/// algorithm 1 on the window, be it the best or not. Nodes are columns of the returned matrix.
struct MorphMatching {
  WeightMatrix matrix;
  Matching matching;
};
MorphMatching match_columns(const Stencil& stencil, const Index3& tile);

/// Layout morphing and structured sparsity conversion (SparStencil sections 3.1 and 3.2) for a tile of
/// r3 x r2 x r1 outputs {z, y, x}: M = r3 r2 r1, K = used input points + zero columns, in whole groups of
/// four. Throws std::invalid_argument on an empty tile, or x_pairs with an odd extent along x.
Operand morph(const Stencil& stencil, const Index3& tile, Pairing pairing);

}  // namespace spsolve
