// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/box.hpp"
#include "kernels/sparse/sparsity.hpp"
#include "kernels/sparse/weight_matrix.hpp"

namespace spsolve {

/// Holds the M x K weight operand that every layout produces and every tensor-core kernel uses, compressed,
/// with the output point of each row and the input point of each column (the K-order). A tile computes
///   u'[origin + outputs[m]] = sum_k A[m][k] u[origin + inputs[k]]
/// and tiles with origins at multiples of `tile` {z, y, x} cover each point of the grid once. A column of B
/// is one tile. Columns without weights may name any point near the window; the loader of B must give them a
/// finite value.
struct Operand {
  Index3 tile{};
  std::vector<Index3> outputs;  // M: points of [0, tile)
  std::vector<Index3> inputs;   // K: a multiple of sparsity.group; address offsets follow from the pitch
  Sparsity sparsity = two_of_four;
  std::vector<double> values;  // M x (K * kept / group), row-major: the kept values of each group, in order
  std::vector<std::uint8_t> indices;  // same shape: place in the group, strictly increasing within a group

  std::size_t rows() const { return outputs.size(); }
  std::size_t columns() const { return inputs.size(); }
  std::size_t compressed_columns() const { return columns() * sparsity.kept / sparsity.group; }
};

/// Compresses a matrix whose columns are in their final order. K is padded with zero columns to whole groups.
/// Unused places keep a zero, placed in the same aligned pair as a non-zero if possible. A group whose rows
/// all use one of its two pairs then changes pairs by flipping bit 1 of every index (metadata xor
/// 0xAAAAAAAA). Throws std::invalid_argument if a row uses more than `kept` columns of a group.
Operand compress(const WeightMatrix& matrix, const Index3& tile, Sparsity sparsity);

/// Reorders the rows, in groups of sixteen: row i of a group is the former row i % 8 / 2 * 4 + i / 8 * 2 + i
/// % 2. The accumulators of a lane, or its elements of both halves after transposition, are then four
/// neighbouring outputs.
Operand interleave_rows(const Operand& operand);

/// Reorders the rows, in groups of eight: row i of a group is the former row i % 2 * 4 + i / 2 % 2 * 2 + (i ^
/// i / 2 ^ i / 4) % 2. Lanes of neighbouring accumulators hold two or four rows of 32 or 64 bytes; these then
/// lie in different banks of shared memory, for swizzled rows of 32, 64 or 128 bytes.
Operand spread_rows(const Operand& operand);

/// Returns the M x K matrix with its zeros, the inverse of compress().
WeightMatrix expand(const Operand& operand);

}  // namespace spsolve
