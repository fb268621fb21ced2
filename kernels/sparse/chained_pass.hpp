// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/sparse/operand.hpp"

namespace spsolve {

/// Returns the operand of one pass along `axis` for register chaining: 16 outputs along the axis,
/// two_of_four, half precision m16n8k32.
///
/// The window starts at a multiple of `align` points (8 for 16-byte loads) and is 2 D columns long, where the
/// multiple D of 16 is at least the width of the factor. Step s, B register r, q = lane % 4 and half h take
/// column 16 s + 8 (q / 2) + D (q % 2) + 2 r + h. The groups are {c, c+1, c+D, c+D+1}, and no row uses three
/// columns of one group, because D >= width.
///
/// Chaining works as follows. In a pass over B whose n-th column is row 16 s + 8 (n / 4) + D (n / 2 % 2) + 2
/// r + n % 2 of the other axis, the accumulators, rounded to half pairs, are register r of step s of the next
/// B.
///
/// one_of_two gives the same windows for tf32 m16n8k16: the half pair in register r of step s becomes
/// registers 2 (r % 2) and 2 (r % 2) + 1 of step 2 s + r / 2.
Operand chained_pass(const Stencil& factor, int axis, int align = 8, Sparsity sparsity = two_of_four);

}  // namespace spsolve
