// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/sparse/operand.hpp"

namespace spsolve {

/// Operand of one pass along `axis` for register chaining: 16 outputs along the axis, two_of_four, half
/// precision m16n8k32. The window starts at a multiple of `align` points (16-byte loads: 8), is 2D columns
/// long, and step s, B register r, q = lane % 4, half h take column 16 s + 8 (q / 2) + D (q % 2) + 2 r + h:
/// groups {c, c+1, c+D, c+D+1} of which no row uses three as D >= width. Chaining: the accumulators of a pass
/// over B with its n-th column at row 16 s + 8 (n / 4) + D (n / 2 % 2) + 2 r + n % 2 of the other axis are,
/// rounded to half pairs, register r of step s of the next B.
///
/// one_of_two gives the same windows to tf32 m16n8k16: the half pair in register r of step s becomes
/// registers 2 (r % 2) and 2 (r % 2) + 1 of step 2 s + r / 2.
Operand chained_pass(const Stencil& factor, int axis, int align = 8, Sparsity sparsity = two_of_four);

}  // namespace spsolve
