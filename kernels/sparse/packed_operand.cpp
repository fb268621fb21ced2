// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/packed_operand.hpp"

#include <array>
#include <stdexcept>

#include "kernels/sparse/element_bits.hpp"

namespace spsolve {
namespace {

/// Holds the four bits of metadata of an empty group: places 0 and 1, or element 0 of a tf32 pair.
constexpr std::uint32_t empty_group = 0b0100;

void check_sparsity(const Operand& operand, const MmaShape& mma) {
  if (operand.sparsity == one_of_two || operand.sparsity == mma.sparsity()) return;
  throw std::invalid_argument("pack: the operand is not sparse in the way that the instruction needs");
}

/// Returns the metadata of one row and group of four half-precision or two tf32 columns: idx0 | idx1 << 2. A
/// tf32 element counts as two half-precision places, so 0b0100 is the first of its pair and 0b1110 the second
/// (PTX ISA, sparse matrix storage).
std::uint32_t group_metadata(const Operand& operand, const MmaShape& mma, std::size_t row,
                             std::size_t group) {
  if (row >= operand.rows()) return empty_group;
  const auto index = [&](std::size_t c) -> std::uint32_t {
    return c < operand.compressed_columns() ? operand.indices[row * operand.compressed_columns() + c] : 0;
  };
  if (mma.element == Precision::tf32) return index(group) == 0 ? 0b0100 : 0b1110;
  if (operand.sparsity == one_of_two) return index(2 * group) | (2 + index(2 * group + 1)) << 2;
  return 2 * group < operand.compressed_columns() ? index(2 * group) | index(2 * group + 1) << 2
                                                  : empty_group;
}

/// Returns 32 bits of a compressed row: one tf32 or two half-precision weights, the first in the low bits.
std::uint32_t value_word(const Operand& operand, const MmaShape& mma, std::size_t row, std::size_t word) {
  const int elements = mma.elements_per_word();
  std::uint32_t bits = 0;
  for (int element = 0; element < elements; ++element) {
    const std::size_t c = word * elements + element;
    if (row >= operand.rows() || c >= operand.compressed_columns()) continue;
    bits |= element_bits(mma.element, operand.values[row * operand.compressed_columns() + c])
            << (16 * element);
  }
  return bits;
}

}  // namespace

PackedOperand pack(const Operand& operand, const MmaShape& mma, MmaWarps warps) {
  check_sparsity(operand, mma);
  if (warps == MmaWarps::four && mma != widest_mma(mma.element))
    throw std::invalid_argument("pack: wgmma.sp exists with the larger k only");
  const int rows = static_cast<int>(operand.rows()), columns = static_cast<int>(operand.columns());
  PackedOperand packed{mma, static_cast<int>(warps), 0, ceil_div(columns, mma.k), {}, {}};
  packed.blocks = ceil_div(rows, mma_rows * packed.warps);

  for (int block = 0; block < packed.blocks; ++block)
    for (int step = 0; step < packed.steps; ++step)
      for (int warp = 0; warp < packed.warps; ++warp)
        for (int lane = 0; lane < warp_lanes; ++lane)
          for (int i = 0; i < mma.a_registers(); ++i)
            packed.values.push_back(value_word(operand, mma,
                                               (block * packed.warps + warp) * mma_rows + a_row(lane, i),
                                               step * mma.k_words() / 2 + a_word(lane, i)));

  for (int block = 0; block < packed.blocks; ++block) {
    for (int word = 0; word < packed.metadata_words(); ++word) {
      for (int warp = 0; warp < packed.warps; ++warp) {
        std::array<std::uint32_t, warp_lanes> lanes{};
        for (int selector = 0; selector < mma.selectors(); ++selector) {
          const int first_group = (word * mma.selectors() + selector) * mma.metadata_groups();
          for (int row = 0; row < mma_rows; ++row) {
            for (int group = 0; group < mma.metadata_groups(); ++group) {
              const auto [lane, bit] = metadata_place(mma, row, group, selector);
              const int m = (block * packed.warps + warp) * mma_rows + row;
              lanes[lane] |= group_metadata(operand, mma, m, first_group + group) << bit;
            }
          }
        }
        packed.metadata.insert(packed.metadata.end(), lanes.begin(), lanes.end());
      }
    }
  }
  return packed;
}

std::uint32_t word_of(const WeightMatrix& matrix, Precision element, std::size_t row, std::size_t word) {
  const std::size_t count = elements_per_word(element);
  std::uint32_t bits = 0;
  for (std::size_t e = 0; e < count; ++e)
    if (const std::size_t k = word * count + e; row < matrix.rows() && k < matrix.columns())
      bits |= element_bits(element, matrix.value(row, k)) << (16 * e);
  return bits;
}

}  // namespace spsolve
