// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/sparse/layout.hpp"
#include "kernels/sparse/operand.hpp"

namespace spsolve {

/// Holds a stencil as weight operands for a march along the slowest axis (here axis 0, the planes). A chunk
/// of T = tile[0] planes of input is loaded once and used for all chunks of output within reach:
///   u'[o T + outputs[m]] = sum_d sum_k A_d[m][k] u[(o + d) T + inputs[k]]   (T along axis 0)
/// All slices have the same outputs, inputs and indices, so one K-order of input points and one set of
/// metadata serves them all. The 32-bit words of a column of B (two half-precision elements, or one of any
/// wider format) come in fours, one for each lane q of a quad; words 2j and 2j + 1 are a group of the 2:4
/// pattern.
struct SlicedOperand {
  Index3 tile;
  std::vector<Operand> slices;  // d = 0, 1, ...

  const Operand& first() const { return slices.front(); }
};

/// Returns the stencil with its axes in the order of a march: in 2D the rows of the grid are its planes.
Stencil in_march_axes(const Stencil& stencil, int dimensions);

/// Returns the tiles that kernels march with. Each has 16 outputs in one plane. Tiles have one row, or also
/// several if `rows`.
std::vector<Index3> marching_tiles(bool rows);

/// Returns the slices for sparse tensor cores with the fewest instructions among marching_tiles(). `stencil`
/// has the axes in the order of the march. `rows` is true if a plane has more than one row. Half precision
/// keeps aligned pairs of x-neighbours together (groups of two pairs, and no output uses both); tf32 pairs
/// single points.
///
/// strided_swap pairs points L apart, where L is the columns of the tile; bands longer than 8 pairs take more
/// outputs. morph takes the fewest groups by matching or, for one row, points L apart where they need no more
/// instructions. Throws std::invalid_argument for other layouts and precisions.
SlicedOperand slice_sparse(const Stencil& stencil, Layout layout, Precision element, bool rows);

/// Returns the morphed slices of a tile of 16 outputs of any shape, also of several planes. No kernel takes
/// tiles of several planes: their windows begin and end at whole chunks, which costs the instructions that
/// denser windows save (docs/papers.md).
SlicedOperand slice_tile(const Stencil& stencil, const Index3& tile, Precision element);

/// Returns the instructions of the largest k per 16 outputs and 8 tiles that have any weights.
int instructions_with_weights(const SlicedOperand& sliced, Precision element);

/// Returns the slices for dense fp64 tensor cores. The 8 outputs, in up to four planes, are the columns of an
/// instruction and 16 tiles are its rows. Input points are in their natural order.
SlicedOperand slice_dense(const Stencil& stencil, bool planes, bool rows);

/// Returns the registers of B that each lane holds for a chunk; a register of all lanes of a quad is four
/// words.
int b_registers(const SlicedOperand& sliced, Precision element);

/// Returns how many of `count` registers, starting at `first`, can be loaded at once (4, 2 or 1). In every
/// lane they must hold pairs of neighbouring points, and begin at a multiple of that many pairs along x.
int registers_per_load(const SlicedOperand& sliced, Precision element, int first, int count);

}  // namespace spsolve
