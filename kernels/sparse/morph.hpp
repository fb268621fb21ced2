// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/sparse/conflict_graph.hpp"
#include "kernels/sparse/operand.hpp"

namespace spsolve {

/// Names the contents of a group of four columns of a morphed operand.
enum class Pairing {
  columns,  // two pairs of columns, and no row uses both columns of a pair: one_of_two, half precision and
            // tf32
  x_pairs,  // two aligned pairs (x, x + 1), x even, and no row uses both pairs: two_of_four, half precision
            // only. A 32-bit register of B is then one 32-bit load. Requires a tile of even extent along x
};

/// Holds a matching of a weight matrix made by crush(), with the fewest zero columns. It uses algorithm 1 if
/// that meets the lower bound (the staircase of the theorem), otherwise Blossom on the used columns. With
/// more than 2048 used columns it uses algorithm 1 on the window, whether or not that is optimal. Nodes are
/// columns of `matrix`.
struct MorphMatching {
  WeightMatrix matrix;
  Matching matching;
};
MorphMatching match_columns(const Stencil& stencil, const Index3& tile);

/// Performs layout morphing and structured sparsity conversion (SparStencil sections 3.1 and 3.2) for a tile
/// of r3 x r2 x r1 outputs {z, y, x}. M = r3 r2 r1 and K = used input points + zero columns, padded to groups
/// of four. Throws std::invalid_argument for an empty tile, or for x_pairs with an odd extent along x.
Operand morph(const Stencil& stencil, const Index3& tile, Pairing pairing);

}  // namespace spsolve
