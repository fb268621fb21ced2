// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/emulation/sparse_mma.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "kernels/sparse/packed_operand.hpp"

namespace spsolve {
namespace {

constexpr int max_k = 32;

/// Represents a number or a product. Tensor cores do not normalise products: the exponent is the sum of those
/// of the factors.
struct Addend {
  double value = 0;
  int exponent = min_exponent;

  static constexpr int min_exponent = -1000;  // of zero and of non-finite values
  Addend() = default;
  explicit Addend(float number)
      : value(number), exponent(number != 0 && std::isfinite(number) ? std::ilogb(number) : min_exponent) {}
  Addend(double product, int sum) : value(product), exponent(sum) {}
  friend Addend operator*(const Addend& a, const Addend& b) {
    return {a.value * b.value, a.exponent + b.exponent};
  }
};

/// Holds the compressed values of A and, for each, the column of B that it multiplies.
struct SparseRows {
  Addend value[mma_rows][max_k / 2];
  int column[mma_rows][max_k / 2];
};

SparseRows decode(const MmaShape& mma, const std::uint32_t* a, const std::uint32_t* metadata, int selector) {
  SparseRows rows;
  const int elements = mma.elements_per_word(), element_bits = 32 / elements;
  for (int lane = 0; lane < warp_lanes; ++lane) {
    for (int i = 0; i < mma.a_registers(); ++i) {
      for (int element = 0; element < elements; ++element) {
        const std::uint32_t bits = a[lane * mma.a_registers() + i] >> (element_bits * element);
        rows.value[a_row(lane, i)][a_word(lane, i) * elements + element] =
            Addend(element_value(mma.element, bits));
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

/// Adds numbers aligned to the largest addend. Each addend is truncated `extra_bits` below the last bit of an
/// fp32 number of that size, and the sum is truncated to fp32.
template <std::size_t n>
float cut_off_sum(const std::array<Addend, n>& addends) {
  constexpr int extra_bits = 2, fraction_bits = 23;
  double exact = 0;
  int largest = Addend::min_exponent;
  for (const Addend& addend : addends) {
    exact += addend.value;
    largest = std::max(largest, addend.exponent);
  }
  if (!std::isfinite(exact) || largest <= Addend::min_exponent + 128) return static_cast<float>(exact);
  const int last = largest - fraction_bits - extra_bits;
  const double units = std::ldexp(1.0, -last);
  std::int64_t sum = 0;
  for (const Addend& addend : addends) sum += static_cast<std::int64_t>(addend.value * units);
  const double aligned = std::ldexp(static_cast<double>(sum), last);
  const auto nearest = static_cast<float>(aligned);
  return std::abs(double{nearest}) > std::abs(aligned) ? std::nextafter(nearest, 0.0f) : nearest;
}

}  // namespace

void sparse_mma(const MmaShape& mma, const std::uint32_t* a, const std::uint32_t* metadata, int selector,
                const WarpRegisters<std::uint32_t, 4>& b, WarpRegisters<float, 4>& d) {
  if (selector < 0 || selector >= mma.selectors())
    throw std::invalid_argument("sparse mma: selector out of range");
  const SparseRows rows = decode(mma, a, metadata, selector);
  const int elements = mma.elements_per_word(), element_bits = 32 / elements;
  Addend columns[max_k][mma_columns];
  for (int lane = 0; lane < warp_lanes; ++lane)
    for (int i = 0; i < mma.b_registers(); ++i)
      for (int element = 0; element < elements; ++element)
        columns[b_word(lane, i) * elements + element][b_column(lane)] =
            Addend(element_value(mma.element, b[lane][i] >> (element_bits * element)));

  for (int lane = 0; lane < warp_lanes; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const int row = c_row(lane, i);
      std::array<Addend, max_k / 2 + 1> addends;
      for (int c = 0; c < mma.k / 2; ++c)
        addends[c] = rows.value[row][c] * columns[rows.column[row][c]][c_column(lane, i)];
      addends.back() = Addend(d[lane][i]);
      d[lane][i] = cut_off_sum(addends);
    }
  }
}

}  // namespace spsolve
