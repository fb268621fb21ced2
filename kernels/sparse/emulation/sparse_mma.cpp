// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/emulation/sparse_mma.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "kernels/sparse/element_bits.hpp"

namespace spsolve {
namespace {

constexpr int max_k = 32, max_products = max_k / 2;
constexpr int min_exponent = -1000;  // the exponent of zero and of non-finite values

/// Returns the binary exponent of a number, or min_exponent.
int exponent_of(float number) {
  const int biased = static_cast<int>(std::bit_cast<std::uint32_t>(number) >> 23 & 0xffu);
  if (biased == 0) return number == 0 ? min_exponent : std::ilogb(number);
  return biased == 0xff ? min_exponent : biased - 127;
}

/// Returns 2^exponent, for an exponent of a normal double.
double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// Holds the compressed values of A and, for each, the column of B that it multiplies.
struct SparseRows {
  double value[mma_rows][max_products];
  int exponent[mma_rows][max_products];
  int column[mma_rows][max_products];
};

SparseRows decode(const MmaShape& mma, const std::uint32_t* a, const std::uint32_t* metadata, int selector) {
  SparseRows rows;
  const int elements = mma.elements_per_word(), element_bits = 32 / elements;
  for (int lane = 0; lane < warp_lanes; ++lane) {
    for (int i = 0; i < mma.a_registers(); ++i) {
      for (int element = 0; element < elements; ++element) {
        const std::uint32_t bits = a[lane * mma.a_registers() + i] >> (element_bits * element);
        const float number = element_value(mma.element, bits);
        const int column = a_word(lane, i) * elements + element;
        rows.value[a_row(lane, i)][column] = number;
        rows.exponent[a_row(lane, i)][column] = exponent_of(number);
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

/// Holds B by rows, and then D, so that loops over its columns become vectors.
struct OperandRow {
  double value[mma_columns] = {};
  int exponent[mma_columns] = {};
};

/// Adds the products of one row of A, and the number of D, in all columns. The addends of a column are
/// aligned to the largest of them. Each addend is truncated `extra_bits` below the last bit of an fp32 number
/// of that size, and the sum is truncated to fp32. Tensor cores do not normalise products: the exponent is
/// the sum of those of the factors.
void add_products(const SparseRows& rows, int row, int products, const OperandRow* b, const OperandRow& d,
                  float* sums) {
  constexpr int extra_bits = 2, fraction_bits = 23;
  double product[max_products][mma_columns], exact[mma_columns] = {};
  int largest[mma_columns];
  std::fill_n(largest, mma_columns, min_exponent);
  for (int c = 0; c < products; ++c) {
    const OperandRow& factors = b[rows.column[row][c]];
    for (int column = 0; column < mma_columns; ++column) {
      product[c][column] = rows.value[row][c] * factors.value[column];
      exact[column] += product[c][column];
      largest[column] = std::max(largest[column], rows.exponent[row][c] + factors.exponent[column]);
    }
  }
  double units[mma_columns], inverse[mma_columns], sum[mma_columns];
  bool aligned[mma_columns];
  for (int column = 0; column < mma_columns; ++column) {
    exact[column] += d.value[column];
    largest[column] = std::max(largest[column], d.exponent[column]);
    aligned[column] = std::isfinite(exact[column]) && largest[column] > min_exponent + 128;
    const int last = aligned[column] ? largest[column] - fraction_bits - extra_bits : 0;
    units[column] = power_of_two(-last);
    inverse[column] = power_of_two(last);
    sum[column] = std::trunc(d.value[column] * units[column]);
  }
  // These sums of integers are exact: each is less than 2^27.
  for (int c = 0; c < products; ++c)
    for (int column = 0; column < mma_columns; ++column)
      sum[column] += std::trunc(product[c][column] * units[column]);
  for (int column = 0; column < mma_columns; ++column) {
    const double value = aligned[column] ? sum[column] * inverse[column] : exact[column];
    const auto nearest = static_cast<float>(value);
    const bool too_large = aligned[column] && std::abs(double{nearest}) > std::abs(value);
    // The neighbour nearer to zero has the preceding bits.
    sums[column] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(nearest) - std::uint32_t{too_large});
  }
}

}  // namespace

void sparse_mma(const MmaShape& mma, const std::uint32_t* a, const std::uint32_t* metadata, int selector,
                const WarpRegisters<std::uint32_t, 4>& b, WarpRegisters<float, 4>& d) {
  if (selector < 0 || selector >= mma.selectors())
    throw std::invalid_argument("sparse mma: selector out of range");
  const SparseRows rows = decode(mma, a, metadata, selector);
  const int elements = mma.elements_per_word(), element_bits = 32 / elements;
  OperandRow columns[max_k], accumulators[mma_rows];
  for (int lane = 0; lane < warp_lanes; ++lane)
    for (int i = 0; i < mma.b_registers(); ++i)
      for (int element = 0; element < elements; ++element) {
        const float number = element_value(mma.element, b[lane][i] >> (element_bits * element));
        OperandRow& row = columns[b_word(lane, i) * elements + element];
        row.value[b_column(lane)] = number;
        row.exponent[b_column(lane)] = exponent_of(number);
      }
  for (int lane = 0; lane < warp_lanes; ++lane)
    for (int i = 0; i < 4; ++i) {
      accumulators[c_row(lane, i)].value[c_column(lane, i)] = d[lane][i];
      accumulators[c_row(lane, i)].exponent[c_column(lane, i)] = exponent_of(d[lane][i]);
    }

  float sums[mma_rows][mma_columns];
  for (int row = 0; row < mma_rows; ++row)
    add_products(rows, row, mma.k / 2, columns, accumulators[row], sums[row]);
  for (int lane = 0; lane < warp_lanes; ++lane)
    for (int i = 0; i < 4; ++i) d[lane][i] = sums[c_row(lane, i)][c_column(lane, i)];
}

}  // namespace spsolve
