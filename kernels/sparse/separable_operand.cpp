// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/separable_operand.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "kernels/sparse/chained_pass.hpp"
#include "kernels/sparse/packed_operand.hpp"
#include "kernels/sparse/round_weights.hpp"
#include "kernels/sparse/split.hpp"

namespace spsolve {
namespace {

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

double sum_abs(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += std::abs(value);
  return total;
}

void scale_by(std::vector<double>& values, double factor) {
  for (double& value : values) value *= factor;
}

/// Whether sums of such a factor are worth keeping: those of odd factors are rounding.
bool has_sum(const std::vector<double>& factor) { return 2 * std::abs(sum(factor)) >= sum_abs(factor); }

/// Weights as multiples of `grid` (or operands, where those are coarser) whose sum is as near to theirs as
/// that allows: what rounding adds or takes is given back by those that it changed most.
std::vector<double> on_grid(const std::vector<double>& weights, double grid, Precision element) {
  const auto nearest = [&](double value) {
    return element_value(element, element_bits(element, std::round(value / grid) * grid));
  };
  std::vector<double> rounded;
  for (const double weight : weights) rounded.push_back(nearest(weight));
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const double lost = sum(weights) - sum(rounded), sign = std::copysign(1.0, lost);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
    return sign * (weights[a] - rounded[a]) > sign * (weights[b] - rounded[b]);
  });
  const auto units = static_cast<std::size_t>(std::round(std::abs(lost) / grid));
  for (std::size_t i = 0; i < std::min(units, order.size()); ++i)
    rounded[order[i]] = nearest(rounded[order[i]] + sign * grid);
  return rounded;
}

/// A factor as terms of the operand format, each with the sum of what it stands for. The larger of two terms
/// are multiples of 2^-12 of the factor's magnitude: their products with the 11 bits of a data term sum to 24
/// bits or little more, which tensor cores, that cut sums off, then do without loss. A loss would be a bias:
/// always towards zero, and so a drift over many launches.
std::vector<std::vector<double>> rounded_terms(std::vector<double> factor, Precision element, int terms) {
  std::vector<std::vector<double>> parts;
  if (terms == 2) {
    parts.push_back(on_grid(factor, std::exp2(std::round(std::log2(sum_abs(factor))) - 12), element));
    for (std::size_t i = 0; i < factor.size(); ++i) factor[i] -= parts[0][i];
  }
  parts.push_back(round_weights(factor, element));
  return parts;
}

/// The pass of a factor without zeros, which fixes the metadata, in the order of rows that `row` gives.
template <class Row>
Operand full_pass(const SeparableStencil& stencil, int axis, Precision element, int align, Row&& row) {
  SeparableTerm ones;
  for (auto& factor : ones.factor) factor = {1.0};
  ones.factor[axis].assign(static_cast<std::size_t>(stencil.taps.extent()[axis]), 1.0);
  const Operand natural = chained_pass(axis_stencil(stencil, ones, axis), axis, align,
                                       element == Precision::tf32 ? one_of_two : two_of_four);
  Operand pass = natural;
  const std::size_t columns = pass.compressed_columns();
  for (std::size_t m = 0; m < pass.rows(); ++m) {
    const std::size_t from = row(static_cast<int>(m));
    pass.outputs[m] = natural.outputs[from];
    std::copy_n(&natural.values[from * columns], columns, &pass.values[m * columns]);
    std::copy_n(&natural.indices[from * columns], columns, &pass.indices[m * columns]);
  }
  return pass;
}

/// The same with the weights of a factor.
Operand with_factor(Operand pass, const std::vector<double>& factor, std::int64_t first_tap, int axis) {
  const std::size_t columns = pass.compressed_columns();
  for (std::size_t m = 0; m < pass.rows(); ++m)
    for (std::size_t c = 0; c < columns; ++c) {
      double& value = pass.values[m * columns + c];
      const std::size_t k = c / pass.sparsity.kept * pass.sparsity.group + pass.indices[m * columns + c];
      if (value != 0) value = factor[pass.inputs[k][axis] - pass.outputs[m][axis] - first_tap];
    }
  return pass;
}

/// Packs the factors of one axis [rank][term].
ChainedAxis pack_axis(const SeparableStencil& stencil, int axis, Precision element, const Operand& pass,
                      const std::vector<std::vector<std::vector<double>>>& factors) {
  ChainedAxis chained{static_cast<int>(pass.columns() / 32), static_cast<int>(pass.inputs[0][axis]), {}, {}};
  for (const auto& terms : factors)
    for (const auto& factor : terms) {
      const PackedOperand packed =
          pack(with_factor(pass, factor, stencil.taps.begin[axis], axis), widest_mma(element));
      chained.values.insert(chained.values.end(), packed.values.begin(), packed.values.end());
      chained.metadata = packed.metadata;
    }
  return chained;
}

}  // namespace

SeparableOperand separable_operand(const SeparableStencil& stencil, Precision precision) {
  if (precision == Precision::fp64 || stencil.taps.extent()[z_axis] != 1 || stencil.taps.begin[z_axis] != 0)
    throw std::invalid_argument("separable operand: not for fp64, nor for stencils along z");
  const bool split = precision == Precision::fp32;
  SeparableOperand operand{
      split ? Precision::tf32 : precision, split ? 2 : 1, static_cast<int>(stencil.terms.size()), {}, {}, 1};
  const Precision element = operand.element;

  std::vector<std::vector<double>> y_factors;
  std::vector<std::vector<std::vector<double>>> x_terms, y_terms;  // [rank][term][tap]
  double largest = 0;
  for (const SeparableTerm& term : stencil.terms) {
    std::vector<double> x = term.factor[x_axis], y = term.factor[y_axis];
    const double sign = term.factor[z_axis].front();
    const double norm = has_sum(x) ? sum(x) : sum_abs(x);
    scale_by(x, 1 / norm);
    scale_by(y, sign * norm);
    x_terms.push_back(rounded_terms(x, element, operand.terms));
    if (has_sum(x)) {
      double kept = 0;
      for (const auto& part : x_terms.back()) kept += sum(part);
      scale_by(y, 1 / kept);
    }
    for (const double value : y) largest = std::max(largest, std::abs(value));
    y_factors.push_back(std::move(y));
  }
  const double y_scale = element == Precision::fp16 && largest > 0 ? power_of_two_scale(largest) : 1.0;
  for (auto& y : y_factors) {
    scale_by(y, y_scale);
    y_terms.push_back(rounded_terms(y, element, operand.terms));
  }
  operand.scale = static_cast<float>(1 / y_scale);

  // Windows along x begin where 16 bytes of a row do.
  const int align = element == Precision::tf32 ? 4 : 8;
  const auto interleaved = [](int i) { return static_cast<std::size_t>(i % 8 / 2 * 4 + i / 8 * 2 + i % 2); };
  const auto natural = [](int i) { return static_cast<std::size_t>(i); };
  operand.x =
      pack_axis(stencil, x_axis, element, full_pass(stencil, x_axis, element, align, interleaved), x_terms);
  operand.y = pack_axis(stencil, y_axis, element, full_pass(stencil, y_axis, element, 1, natural), y_terms);
  return operand;
}

}  // namespace spsolve
