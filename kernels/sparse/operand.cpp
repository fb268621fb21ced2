// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/operand.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "kernels/rounding.hpp"

namespace spsolve {
namespace {

/// Returns the operand whose row m is row from(m) of `operand`.
template <class From>
Operand with_rows(const Operand& operand, From&& from) {
  Operand ordered = operand;
  const std::size_t columns = operand.compressed_columns();
  for (std::size_t m = 0; m < operand.rows(); ++m) {
    const std::size_t row = from(m);
    ordered.outputs[m] = operand.outputs[row];
    std::copy_n(&operand.values[row * columns], columns, &ordered.values[m * columns]);
    std::copy_n(&operand.indices[row * columns], columns, &ordered.indices[m * columns]);
  }
  return ordered;
}

/// Returns the places in one row's group that hold a weight.
std::vector<int> used_places(const WeightMatrix& matrix, std::size_t row, std::size_t first, int group) {
  std::vector<int> places;
  for (int place = 0; place < group && first + place < matrix.columns(); ++place)
    if (matrix.value(row, first + place) != 0.0) places.push_back(place);
  return places;
}

/// Fills up to `kept` places: first the other half of a used place's pair, then the lowest free places.
void fill_places(std::vector<int>& places, Sparsity sparsity) {
  const auto offer = [&](int place) {
    if (static_cast<int>(places.size()) < sparsity.kept && place < sparsity.group &&
        std::ranges::find(places, place) == places.end())
      places.push_back(place);
  };
  if (!places.empty()) offer(places.front() ^ 1);
  for (int place = 0; place < sparsity.group; ++place) offer(place);
  std::ranges::sort(places);
}

}  // namespace

Operand compress(const WeightMatrix& matrix, const Index3& tile, Sparsity sparsity) {
  Operand operand{tile, matrix.outputs, matrix.inputs, sparsity, {}, {}};
  operand.inputs.resize(round_up(matrix.columns(), sparsity.group), matrix.inputs.back());
  for (std::size_t m = 0; m < matrix.rows(); ++m) {
    for (std::size_t first = 0; first < operand.columns(); first += sparsity.group) {
      auto places = used_places(matrix, m, first, sparsity.group);
      if (static_cast<int>(places.size()) > sparsity.kept)
        throw std::invalid_argument(
            "compress: row " + std::to_string(m) + " uses " + std::to_string(places.size()) + " of the " +
            std::to_string(sparsity.group) + " columns from " + std::to_string(first) +
            "; the layout allows " + std::to_string(sparsity.kept));
      fill_places(places, sparsity);
      for (const int place : places) {
        operand.values.push_back(first + place < matrix.columns() ? matrix.value(m, first + place) : 0.0);
        operand.indices.push_back(static_cast<std::uint8_t>(place));
      }
    }
  }
  return operand;
}

Operand interleave_rows(const Operand& operand) {
  return with_rows(operand, [](std::size_t m) {
    const std::size_t i = m % 16;
    return m - i + i % 8 / 2 * 4 + i / 8 * 2 + i % 2;
  });
}

Operand spread_rows(const Operand& operand) {
  return with_rows(operand, [](std::size_t m) {
    const std::size_t i = m % 8;
    return m - i + i % 2 * 4 + i / 2 % 2 * 2 + (i ^ i / 2 ^ i / 4) % 2;
  });
}

WeightMatrix expand(const Operand& operand) {
  WeightMatrix matrix{operand.outputs, operand.inputs,
                      std::vector<double>(operand.rows() * operand.columns(), 0.0)};
  const std::size_t kept = operand.sparsity.kept, group = operand.sparsity.group;
  for (std::size_t m = 0; m < operand.rows(); ++m) {
    for (std::size_t c = 0; c < operand.compressed_columns(); ++c) {
      const std::size_t at = m * operand.compressed_columns() + c;
      matrix.value(m, c / kept * group + operand.indices[at]) = operand.values[at];
    }
  }
  return matrix;
}

}  // namespace spsolve
