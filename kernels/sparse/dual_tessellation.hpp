// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/sparse/operand.hpp"

namespace spsolve {

/// Returns dual tessellation (ConvStencil section 3.3) as a dense operand for fp64 tensor cores: n + 1
/// outputs along x for kernel rows of n points. The first half of the columns is weight matrix A (per kernel
/// row a lower triangle), the second half weight matrix B (upper triangles). Output 0 takes everything from A
/// and output n everything from B. In each half, column n row + j is kernel row `row` (y fastest, then z) and
/// input point j of A's run or n + j of B's.
Operand dual_tessellation(const Stencil& stencil);

/// Locates a plane of height x width points in shared memory by stencil2row (ConvStencil equations 5 and 6):
/// element offsets [y][x] into matrix A and into matrix B. Each matrix has `groups` rows of `pitch` elements.
/// In row g, column n y + j of A is point (y, g (n + 1) + j), and of B point (y, g (n + 1) + n + j). Points
/// that a matrix does not hold go to the padding of a row (dirty bits padding), so filling needs no branch.
struct Stencil2Row {
  int groups;
  int pitch;  // 4 modulo 8, so that the rows of an fp64 fragment lie in different banks
  std::vector<int> a, b;
};
Stencil2Row stencil2row(int kernel_width, int height, int width);

/// Returns the weights as the right-hand operand of mma.m16n8k16 in fp64 (which has twice the rate of
/// m8n8k4); its 16 rows are groups of stencil2row. The order is [block of 8 outputs][step of 16
/// columns][lane][register], zero-padded. Register i of lane l holds column 16 step + l % 4 + 4 i of output l
/// / 4 (PTX ISA, matrix fragments for mma.m16n8k16 with fp64).
std::vector<double> pack_fp64_weights(const Operand& operand);

}  // namespace spsolve
