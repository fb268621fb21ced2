// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/rounding.hpp"
#include "kernels/sparse/mma_shape.hpp"
#include "kernels/sparse/operand.hpp"

namespace spsolve {

/// Names the instructions that take A in registers: mma.sp (one warp, M = 16) and wgmma.sp (four warps, M =
/// 64).
enum class MmaWarps { one = 1, four = 4 };

/// Holds an operand in the order of the lanes' registers, so that a kernel loads weights and metadata with
/// one wide load per lane. Rows are padded to whole blocks of 16 x warps, columns to whole steps of mma.k.
struct PackedOperand {
  MmaShape mma;
  int warps;
  int blocks;                         // blocks of 16 x warps rows
  int steps;                          // instructions per block
  std::vector<std::uint32_t> values;  // [block][step][warp][lane][register]
  /// [block][step / selectors][warp][lane]; step s uses selector s % selectors.
  std::vector<std::uint32_t> metadata;

  int metadata_words() const { return ceil_div(steps, mma.selectors()); }
  const std::uint32_t* values_of(int block, int step, int warp) const {
    return &values[static_cast<std::size_t>((block * steps + step) * warps + warp) * warp_lanes *
                   mma.a_registers()];
  }
  const std::uint32_t* metadata_of(int block, int step, int warp) const {
    return &metadata[static_cast<std::size_t>((block * metadata_words() + step / mma.selectors()) * warps +
                                              warp) *
                     warp_lanes];
  }
};

/// Rounds the weights to mma.element and packs them. A one_of_two operand can be packed for every shape,
/// two_of_four only for half precision. Throws std::invalid_argument for operands that the instruction does
/// not accept.
PackedOperand pack(const Operand& operand, const MmaShape& mma, MmaWarps warps = MmaWarps::one);

/// Returns the 32-bit word of a row of dense weights with one element, or two neighbours of 16 bits. Elements
/// beyond the matrix are zero.
std::uint32_t word_of(const WeightMatrix& matrix, Precision element, std::size_t row, std::size_t word);

}  // namespace spsolve
