// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/box.hpp"
#include "kernels/sparse/weight_matrix.hpp"

namespace spsolve {

/// How many of each group of consecutive columns a row may use. Hardware: half-precision operands are
/// two_of_four, tf32 operands one_of_two; one_of_two also satisfies two_of_four.
struct Sparsity {
  int kept;
  int group;

  friend constexpr bool operator==(const Sparsity&, const Sparsity&) = default;
};

constexpr Sparsity dense{1, 1}, one_of_two{1, 2}, two_of_four{2, 4};

/// What every layout makes of a stencil and every tensor-core kernel runs: the M x K weight operand,
/// compressed, with the output point of each row and the input point of each column (the K-order). A tile
/// computes
///   u'[origin + outputs[m]] = sum_k A[m][k] u[origin + inputs[k]]
/// and tiles with origins at multiples of `tile` {z, y, x} cover the grid, each point once. A column of B is
/// one tile. Columns without any weight may name any point near the window; whoever loads B must give them a
/// finite value.
struct Operand {
  Index3 tile{};
  std::vector<Index3> outputs;  // M: points of [0, tile)
  std::vector<Index3> inputs;   // K: a multiple of sparsity.group; address offsets follow, by the pitch
  Sparsity sparsity = two_of_four;
  std::vector<double> values;  // M x (K * kept / group), row-major: what is kept of each group, in order
  std::vector<std::uint8_t> indices;  // as values: its place in the group, strictly increasing within a group

  std::size_t rows() const { return outputs.size(); }
  std::size_t columns() const { return inputs.size(); }
  std::size_t compressed_columns() const { return columns() * sparsity.kept / sparsity.group; }
};

/// True if no row uses more than `kept` columns of any group; columns beyond K count as zero.
bool satisfies(const WeightMatrix& matrix, Sparsity sparsity);

/// Compresses a matrix whose columns are in their final order; K is padded with zero columns to whole groups.
/// Places not needed keep a zero, next to the non-zero of the same aligned pair where there is one: a group
/// whose rows use only one of its two pairs then changes pairs by flipping bit 1 of every index (metadata xor
/// 0xAAAAAAAA). Throws std::invalid_argument unless satisfies(matrix, sparsity).
Operand compress(const WeightMatrix& matrix, const Index3& tile, Sparsity sparsity);

/// The same with its rows, of whole sixteens, in another order: row i of sixteen is row i % 8 / 2 * 4 + i / 8
/// * 2 + i % 2 of before, so that the accumulators of a lane, or what it has of both halves transposed, are
/// four neighbouring outputs.
Operand interleave_rows(const Operand& operand);

/// The same with its rows, of whole eights, in another order: row i of eight is row i % 2 * 4 + i / 2 % 2 * 2
/// + (i ^ i / 2 ^ i / 4) % 2 of before. What the lanes of neighbouring accumulators hold, two or four rows of
/// 32 or 64 bytes, then lies in different banks of shared memory, be rows 32, 64 or 128 bytes long and
/// swizzled.
Operand spread_rows(const Operand& operand);

/// The inverse of compress: the M x K matrix with its zeros.
WeightMatrix expand(const Operand& operand);

/// Address offset of every column in a buffer with these strides (elements): the lookup table of ConvStencil
/// (section 3.4) and SparStencil (section 3.3). Kernels have the same offsets in classes: those of a quad's
/// four lanes differ in few ways.
std::vector<std::int64_t> input_offsets(const Operand& operand, const Index3& strides);

/// Non-zero weights / multiplications executed: S of paper 003, for M and K padded to multiples of m and k.
double density(const Operand& operand, int m, int k);

}  // namespace spsolve
