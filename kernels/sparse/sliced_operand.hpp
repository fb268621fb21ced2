// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/sparse/layout.hpp"
#include "kernels/sparse/operand.hpp"

namespace spsolve {

/// A stencil as weight operands for a march along the slowest axis (here axis 0, the planes). A chunk of
/// T = tile[0] planes of input is loaded once and serves all the chunks of output that it is within reach of:
///   u'[o T + outputs[m]] = sum_d sum_k A_d[m][k] u[(o + d) T + inputs[k]]   (T along axis 0)
/// All slices have the same outputs, inputs and indices, so one K-order of input points and one metadata
/// serve them all. 32-bit words of a column of B (two half-precision elements, or one of any wider format)
/// come in fours, one for each lane q of a quad; words 2j and 2j + 1 are a group of the 2:4 pattern.
struct SlicedOperand {
  Index3 tile;
  std::vector<Operand> slices;  // d = 0, 1, ...

  const Operand& first() const { return slices.front(); }
};

/// Slices for sparse tensor cores, of at most 16 outputs in one plane, those that take the fewest
/// instructions. `stencil` has its axes as the march has them; `rows` says whether a plane has more than one
/// row. Half precision keeps aligned pairs of x-neighbours together (groups of two pairs that no output both
/// uses); tf32 pairs single points.
/// strided_swap: pairs of points L apart, L = columns of the tile; bands longer than 8 pairs take more
/// outputs. morph: the fewest groups by matching, or for one row those of points L apart where they take no
/// more instructions. Throws std::invalid_argument for other layouts and precisions.
SlicedOperand slice_sparse(const Stencil& stencil, Layout layout, Precision element, bool rows);

/// Slices for dense fp64 tensor cores, with 8 outputs in up to four planes as columns and 16 tiles as rows of
/// an instruction: input points in their natural order.
SlicedOperand slice_dense(const Stencil& stencil, bool planes, bool rows);

/// Registers of B that each lane holds for a chunk: four words each.
int b_registers(const SlicedOperand& sliced, Precision element);

/// How many registers from `first` on, of `count`, can be loaded at once (4, 2 or 1): in every lane they hold
/// pairs of neighbouring points that begin at a multiple of as many pairs along x.
int loaded_together(const SlicedOperand& sliced, Precision element, int first, int count);

}  // namespace spsolve
