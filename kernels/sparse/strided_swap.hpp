// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/sparse/operand.hpp"

namespace spsolve {

/// Returns the band column at place j of a band of length L after strided swapping (SPIDER section 3.1.2):
/// odd columns change places with the column L further. The map is its own inverse. In a kernel it is an
/// address offset of swapped_column(j, L) - j = +-L points.
constexpr int swapped_column(int j, int length) {
  return j % 2 == 0 ? j : j < length ? j + length : j - length;
}

/// Returns the least L that strided swapping needs for kernel rows of `width` points along the swapped axis:
/// 2r + 2 for width 2r + 1, in general width + 1 rounded up to even.
constexpr int min_swap_length(int width) { return (width + 2) / 2 * 2; }

/// Returns the swapped weight matrix for any L: per kernel row a band matrix L x (L + width - 1), padded to
/// 2L columns, with its columns swapped. `rows` neighbouring outputs across the band share their common
/// kernel rows (M = rows x L, K = (kernel rows + rows - 1) x 2L). `axis` is the axis of the band: x, or y for
/// the second pass of a separable stencil. Throws std::invalid_argument unless L is even and positive (pairs
/// stay aligned) and 2L columns hold the band.
WeightMatrix swapped_band(const Stencil& stencil, int length, int axis = x_axis, int rows = 1);

/// Returns the strided-swap operand, one_of_two (which satisfies two_of_four). Throws std::invalid_argument
/// unless length >= min_swap_length(width): with fewer columns, more than half of the band is non-zero.
Operand strided_swap(const Stencil& stencil, int length, int axis = x_axis, int rows = 1);

}  // namespace spsolve
