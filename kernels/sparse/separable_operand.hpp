// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/precision.hpp"
#include "kernels/sparse/operand.hpp"
#include "kernels/sparse/separable.hpp"

namespace spsolve {

/// One axis of a chained separable sweep: 16 outputs against `windows` windows of 32 inputs, the first of
/// which is `begin` points from the first output. A window is two slabs of 16 inputs, `windows` slabs apart;
/// of windows from `paired` on the second has no weights, so whatever is read for it is ignored.
struct ChainedAxis {
  int windows = 1;
  int paired = 1;
  int begin = 0;
  std::vector<std::uint32_t> values;    // [rank][operand term][instruction][lane][4 registers]
  std::vector<std::uint32_t> metadata;  // [word][lane]; instruction i takes selector i % 2 of word i / 2
};

/// A separable stencil as the mma.sp operands of two chained passes, along x and then along y, and fp32
/// weights of a pass along z. Every factor has the metadata of full factors, so one set serves them all.
/// Terms with the same factor along x, or along z, but for a number, share it.
///
/// Row i of the x operand is output ((i % 8) / 2) * 4 + (i / 8) * 2 + i % 2: a lane's accumulators of both
/// passes are then four neighbours in x. Rows of the y operand are those of spread_rows. Factors along x sum
/// to 1 (or, where that would magnify rounding, their magnitudes do), so that what passes on has the range of
/// the data, and constants pass on exactly; factors are rounded such that their sums are kept
/// (round_weights), and the sums of the y factors make up for what is left: a conserved quantity does not
/// drift. Factors along z have their sums in the same way. fp16 factors along y are scaled by a power of two;
/// sums are multiplied by `scale` in the end.
struct SeparableOperand {
  Precision element;      // fp16, bf16 or tf32
  int terms;              // per weight: 1, or for fp32 results 2 (of tf32, the larger first)
  int rank;               // factors along y, one for each term; terms are in order of z_of
  std::vector<int> x_of;  // [rank]: which factor along x, of `x_rank`
  std::vector<int> z_of;  // and along z
  int x_rank, z_rank;
  ChainedAxis x, y;
  float scale;
  int z_begin, z_taps;          // as of a window: the taps along z
  std::vector<float> z_values;  // [z_rank][z_taps]

  /// Instructions per window: tf32 windows take two.
  int per_window() const { return element == Precision::tf32 ? 2 : 1; }
};

/// Throws std::invalid_argument for fp64.
SeparableOperand separable_operand(const SeparableStencil& stencil, Precision precision);

/// The operand of a pass along an axis with other weights in the same places: those of a factor whose first
/// tap has offset `first_tap`.
Operand with_factor(Operand pass, const std::vector<double>& factor, std::int64_t first_tap, int axis);

/// The same terms, in the order of the operand, with the factors that it holds: operand terms from `first` up
/// to `last` together, scales taken off again. Throws std::invalid_argument for fp64.
SeparableStencil as_rounded(const SeparableStencil& stencil, Precision precision, int first = 0,
                            int last = 2);

}  // namespace spsolve
