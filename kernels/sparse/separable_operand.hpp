// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/precision.hpp"
#include "kernels/sparse/operand.hpp"
#include "kernels/sparse/separable.hpp"

namespace spsolve {

/// Describes one axis of a chained separable sweep: 16 outputs against `windows` windows of 32 inputs. The
/// first window starts `begin` points from the first output. A window is two slabs of 16 inputs, `windows`
/// slabs apart. From window `paired` on, the second slab has no weights, so whatever is read for it is
/// ignored.
struct ChainedAxis {
  int windows = 1;
  int paired = 1;
  int begin = 0;
  std::vector<std::uint32_t> values;    // [rank][operand term][instruction][lane][4 registers]
  std::vector<std::uint32_t> metadata;  // [word][lane]; instruction i takes selector i % 2 of word i / 2
};

/// Holds a separable stencil as the mma.sp operands of two chained passes, along x and then along y, and fp32
/// weights of a pass along z. All factors use the metadata of full factors, so one set serves them all. Terms
/// whose factors along x, or along z, are multiples of each other share them.
///
/// Row i of the x operand is output ((i % 8) / 2) * 4 + (i / 8) * 2 + i % 2, so that a lane's accumulators in
/// both passes are four neighbours in x. Rows of the y operand are in the order of spread_rows().
///
/// Factors along x sum to 1 (or, where that would magnify rounding errors, their magnitudes do). Intermediate
/// results therefore have the range of the data, and constants pass exactly. Factors are rounded such that
/// their sums are kept (round_weights), and the sums of the y factors compensate for the remaining error, so
/// that a conserved quantity does not drift. Sums of factors along z are kept likewise. fp16 factors along y
/// are scaled by a power of two; the final sums are multiplied by `scale`.
struct SeparableOperand {
  Precision element;      // fp16, bf16 or tf32
  int terms;              // terms per weight: 1, or 2 of tf32 for fp32 results (the larger first)
  int rank;               // number of factors along y, one per term; terms are in order of z_of
  std::vector<int> x_of;  // [rank]: number of the factor along x, below x_rank
  std::vector<int> z_of;  // [rank]: number of the factor along z
  int x_rank, z_rank;
  ChainedAxis x, y;
  float scale;
  int z_begin, z_taps;          // as `begin` and extent of a window, but for the taps along z
  std::vector<float> z_values;  // [z_rank][z_taps]

  /// Returns the instructions per window; tf32 windows take two.
  int per_window() const { return element == Precision::tf32 ? 2 : 1; }
};

/// Makes the operand. Throws std::invalid_argument for fp64.
SeparableOperand separable_operand(const SeparableStencil& stencil, Precision precision);

/// Returns the operand of a pass along an axis with other weights in the same places: those of `factor`,
/// whose first tap has offset `first_tap`.
Operand with_factor(Operand pass, const std::vector<double>& factor, std::int64_t first_tap, int axis);

/// Returns the terms, in the order of the operand, with the factors that the operand holds: operand terms
/// `first` to `last` (exclusive) added, and scales removed. Throws std::invalid_argument for fp64.
SeparableStencil as_rounded(const SeparableStencil& stencil, Precision precision, int first = 0,
                            int last = 2);

}  // namespace spsolve
