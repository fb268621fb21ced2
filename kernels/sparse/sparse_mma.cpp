// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/sparse_mma.hpp"

#include <stdexcept>

#include "kernels/sparse/packed_operand.hpp"

namespace spsolve {
namespace {

constexpr int most_k = 32;

/// A as compressed values and the column of B that each meets.
struct SparseRows {
  float value[mma_rows][most_k / 2];
  int column[mma_rows][most_k / 2];
};

SparseRows decode(const MmaShape& mma, const std::uint32_t* a, const std::uint32_t* metadata, int selector) {
  SparseRows rows;
  const int elements = mma.elements_per_word(), element_bits = 32 / elements;
  for (int lane = 0; lane < warp_lanes; ++lane) {
    for (int i = 0; i < mma.a_registers(); ++i) {
      for (int element = 0; element < elements; ++element) {
        const std::uint32_t bits = a[lane * mma.a_registers() + i] >> (element_bits * element);
        rows.value[a_row(lane, i)][a_word(lane, i) * elements + element] = element_value(mma.element, bits);
      }
    }
  }
  for (int row = 0; row < mma_rows; ++row) {
    for (int group = 0; group < mma.metadata_groups(); ++group) {
      const auto [lane, bit] = metadata_place(mma, row, group, selector);
      const int code = static_cast<int>(metadata[lane] >> bit & 0xfu), low = code & 3, high = code >> 2;
      if (mma.element == Precision::tf32) {
        if (code != 0b0100 && code != 0b1110)
          throw std::invalid_argument("sparse mma: undefined tf32 metadata");
        rows.column[row][group] = 2 * group + low / 2;
      } else {
        if (low >= high) throw std::invalid_argument("sparse mma: metadata is not in increasing order");
        rows.column[row][2 * group] = 4 * group + low;
        rows.column[row][2 * group + 1] = 4 * group + high;
      }
    }
  }
  return rows;
}

}  // namespace

void sparse_mma(const MmaShape& mma, const std::uint32_t* a, const std::uint32_t* metadata, int selector,
                const WarpRegisters<std::uint32_t, 4>& b, WarpRegisters<float, 4>& d) {
  if (selector < 0 || selector >= mma.selectors())
    throw std::invalid_argument("sparse mma: selector out of range");
  const SparseRows rows = decode(mma, a, metadata, selector);
  const int elements = mma.elements_per_word(), element_bits = 32 / elements;
  float columns[most_k][mma_columns];
  for (int lane = 0; lane < warp_lanes; ++lane)
    for (int i = 0; i < mma.b_registers(); ++i)
      for (int element = 0; element < elements; ++element)
        columns[b_word(lane, i) * elements + element][b_column(lane)] =
            element_value(mma.element, b[lane][i] >> (element_bits * element));

  for (int lane = 0; lane < warp_lanes; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const int row = c_row(lane, i);
      double sum = d[lane][i];
      for (int c = 0; c < mma.k / 2; ++c)
        sum += double{rows.value[row][c]} * columns[rows.column[row][c]][c_column(lane, i)];
      d[lane][i] = static_cast<float>(sum);
    }
  }
}

}  // namespace spsolve
