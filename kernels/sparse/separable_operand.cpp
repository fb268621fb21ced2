// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/separable_operand.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "kernels/sparse/chained_pass.hpp"
#include "kernels/sparse/element_bits.hpp"
#include "kernels/sparse/packed_operand.hpp"
#include "kernels/sparse/round_weights.hpp"
#include "kernels/sparse/split.hpp"

namespace spsolve {
namespace {

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

void scale_by(std::vector<double>& values, double factor) {
  for (double& value : values) value *= factor;
}

/// Returns tf32 for fp32, whose operands are two terms of tf32, and otherwise the precision itself.
Precision operand_element_of(Precision precision) {
  return precision == Precision::fp32 ? Precision::tf32 : precision;
}
int operand_terms_of(Precision precision) { return precision == Precision::fp32 ? 2 : 1; }

/// Returns true if the sum of a factor is worth preserving. Sums of odd factors are only rounding errors.
bool has_sum(const std::vector<double>& factor) { return 2 * std::abs(sum(factor)) >= sum_abs(factor); }

/// Rounds weights to multiples of `grid` (or to operands, where those are coarser) and keeps their sum as
/// well as possible: the error of the sum is returned to the weights that rounding changed most.
std::vector<double> on_grid(const std::vector<double>& weights, double grid, Precision element) {
  const auto nearest = [&](double value) {
    return element_value(element, element_bits(element, std::round(value / grid) * grid));
  };
  std::vector<double> rounded;
  for (const double weight : weights) rounded.push_back(nearest(weight));
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const double lost = sum(weights) - sum(rounded), sign = std::copysign(1.0, lost);
  std::ranges::stable_sort(order, [&](auto a, auto b) {
    return sign * (weights[a] - rounded[a]) > sign * (weights[b] - rounded[b]);
  });
  const auto units = static_cast<std::size_t>(std::round(std::abs(lost) / grid));
  for (std::size_t i = 0; i < std::min(units, order.size()); ++i)
    rounded[order[i]] = nearest(rounded[order[i]] + sign * grid);
  return rounded;
}

/// Splits a factor into terms of the operand format; each keeps the sum of what it approximates. Of two
/// terms, the larger are multiples of leading_grid.
std::vector<std::vector<double>> rounded_terms(std::vector<double> factor, Precision element, int terms) {
  std::vector<std::vector<double>> parts;
  if (terms == 2) {
    const double magnitude = sum_abs(factor), noise = 0x1p-48 * magnitude;
    parts.push_back(on_grid(factor, leading_grid(magnitude), element));
    for (std::size_t i = 0; i < factor.size(); ++i) {
      factor[i] -= parts[0][i];
      // The remainder is an error of the decomposition. Products with it would decide the rounding of sums
      // halfway between two numbers.
      if (std::abs(factor[i]) < noise) factor[i] = 0;
    }
  }
  parts.push_back(round_weights(factor, element));
  return parts;
}

/// Collects the factors of one axis that are not multiples of each other. They are normalised to sum 1 or,
/// where that would magnify rounding errors, to a sum of magnitudes of 1.
class SharedFactors {
 public:
  /// Returns the number of a factor and its multiplier.
  std::pair<int, double> find(std::vector<double> factor) {
    const double norm = has_sum(factor) ? sum(factor) : sum_abs(factor);
    scale_by(factor, 1 / norm);
    for (std::size_t i = 0; i < factors_.size(); ++i)
      for (const double sign : {1.0, -1.0}) {
        double difference = 0;
        for (std::size_t tap = 0; tap < factor.size(); ++tap)
          difference = std::max(difference, std::abs(factor[tap] - sign * factors_[i][tap]));
        if (difference < 1e-12) return {static_cast<int>(i), sign * norm};
      }
    factors_.push_back(std::move(factor));
    return {static_cast<int>(factors_.size()) - 1, norm};
  }

  const std::vector<std::vector<double>>& factors() const { return factors_; }

 private:
  std::vector<std::vector<double>> factors_;
};

/// Rounds a factor to fp32; the largest weight takes the error of the sum.
std::vector<float> rounded_to_fp32(const std::vector<double>& factor) {
  std::vector<float> rounded(factor.begin(), factor.end());
  const double lost = sum(factor) - std::accumulate(rounded.begin(), rounded.end(), 0.0);
  const auto largest =
      std::ranges::max_element(factor, [](double a, double b) { return std::abs(a) < std::abs(b); }) -
      factor.begin();
  float& given = rounded[static_cast<std::size_t>(largest)];
  given = static_cast<float>(given + lost);
  return rounded;
}

/// Returns the pass of a factor without zeros, which fixes the metadata.
Operand full_pass(const SeparableStencil& stencil, int axis, Precision element, int align) {
  SeparableTerm ones;
  for (auto& factor : ones.factor) factor = {1.0};
  ones.factor[axis].assign(static_cast<std::size_t>(stencil.taps.extent()[axis]), 1.0);
  return chained_pass(axis_stencil(stencil, ones, axis), axis, align,
                      element == Precision::tf32 ? one_of_two : two_of_four);
}

/// Returns the number of windows up to the last one whose second slab (the second half of each group of
/// inputs) has weights.
int paired_windows(const Operand& pass) {
  int paired = 0;
  for (std::size_t i = 0; i < pass.values.size(); ++i) {
    const std::size_t first = i % pass.compressed_columns() / pass.sparsity.kept * pass.sparsity.group;
    if (pass.values[i] != 0 && 2 * pass.indices[i] >= pass.sparsity.group)
      paired = std::max(paired, static_cast<int>(first / 32) + 1);
  }
  return paired;
}

/// Packs the factors of one axis, [rank][term].
ChainedAxis pack_axis(const SeparableStencil& stencil, int axis, Precision element, const Operand& pass,
                      const std::vector<std::vector<std::vector<double>>>& factors) {
  ChainedAxis chained{static_cast<int>(pass.columns() / 32),
                      paired_windows(pass),
                      static_cast<int>(pass.inputs[0][axis]),
                      {},
                      {}};
  for (const auto& terms : factors)
    for (const auto& factor : terms) {
      const PackedOperand packed =
          pack(with_factor(pass, factor, stencil.taps.begin[axis], axis), widest_mma(element));
      chained.values.insert(chained.values.end(), packed.values.begin(), packed.values.end());
      chained.metadata = packed.metadata;
    }
  return chained;
}

/// Holds the factors of all terms as operands hold them. Terms are in order of z_of.
struct RoundedFactors {
  using FactorTerms = std::vector<std::vector<double>>;  // [operand term][tap]
  std::vector<FactorTerms> x, y;                         // [x_rank], [rank]
  std::vector<std::vector<float>> z;                     // [z_rank]
  std::vector<int> x_of, z_of;                           // [rank]
  double y_scale = 1;                                    // scale of the factors along y
};

RoundedFactors round_factors(const SeparableStencil& stencil, Precision precision) {
  if (precision == Precision::fp64) throw std::invalid_argument("separable operand: not for fp64");
  const Precision element = operand_element_of(precision);
  const int terms = operand_terms_of(precision);
  SharedFactors z_factors, x_factors;
  struct Column {
    int z, x;  // numbers of the factors
    std::vector<double> y;
  };
  std::vector<Column> columns;
  for (const SeparableTerm& term : stencil.terms) {
    const auto [z, z_norm] = z_factors.find(term.factor[z_axis]);
    const auto [x, x_norm] = x_factors.find(term.factor[x_axis]);
    columns.push_back({z, x, term.factor[y_axis]});
    scale_by(columns.back().y, z_norm * x_norm);
  }
  std::ranges::stable_sort(columns, {}, &Column::z);

  RoundedFactors rounded;
  std::vector<double> kept;  // sums of the x factors
  for (const std::vector<double>& x : x_factors.factors()) {
    rounded.x.push_back(rounded_terms(x, element, terms));
    double& sum_of = kept.emplace_back(0.0);
    for (const auto& part : rounded.x.back()) sum_of += sum(part);
    if (!has_sum(x)) sum_of = 1;
  }
  double largest = 0;
  for (Column& column : columns) {
    scale_by(column.y, 1 / kept[column.x]);
    for (const double value : column.y) largest = std::max(largest, std::abs(value));
  }
  if (element == Precision::fp16 && largest > 0) rounded.y_scale = power_of_two_scale(largest);
  for (Column& column : columns) {
    scale_by(column.y, rounded.y_scale);
    rounded.y.push_back(rounded_terms(column.y, element, terms));
    rounded.x_of.push_back(column.x);
    rounded.z_of.push_back(column.z);
  }
  for (const std::vector<double>& z : z_factors.factors()) rounded.z.push_back(rounded_to_fp32(z));
  return rounded;
}

}  // namespace

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

SeparableStencil as_rounded(const SeparableStencil& stencil, Precision precision, int first, int last) {
  const RoundedFactors rounded = round_factors(stencil, precision);
  const auto together = [&](const RoundedFactors::FactorTerms& terms, double scale) {
    std::vector<double> factor(terms.front().size(), 0.0);
    const auto end = std::min(static_cast<std::size_t>(last), terms.size());
    for (auto term = static_cast<std::size_t>(first); term < end; ++term)
      for (std::size_t tap = 0; tap < factor.size(); ++tap) factor[tap] += scale * terms[term][tap];
    return factor;
  };
  SeparableStencil same{stencil.taps, {}, stencil.dropped};
  for (std::size_t k = 0; k < rounded.y.size(); ++k) {
    const std::vector<float>& z = rounded.z[static_cast<std::size_t>(rounded.z_of[k])];
    same.terms.push_back(
        {{std::vector<double>(z.begin(), z.end()), together(rounded.y[k], 1 / rounded.y_scale),
          together(rounded.x[static_cast<std::size_t>(rounded.x_of[k])], 1)}});
  }
  return same;
}

SeparableOperand separable_operand(const SeparableStencil& stencil, Precision precision) {
  const RoundedFactors factors = round_factors(stencil, precision);
  const Precision element = operand_element_of(precision);
  SeparableOperand operand{};
  operand.element = element;
  operand.terms = operand_terms_of(precision);
  operand.rank = static_cast<int>(factors.y.size());
  operand.x_of = factors.x_of;
  operand.z_of = factors.z_of;
  operand.x_rank = static_cast<int>(factors.x.size());
  operand.z_rank = static_cast<int>(factors.z.size());
  operand.scale = static_cast<float>(1 / factors.y_scale);
  operand.z_begin = static_cast<int>(stencil.taps.begin[z_axis]);
  operand.z_taps = static_cast<int>(stencil.taps.extent()[z_axis]);
  for (const auto& z : factors.z) operand.z_values.insert(operand.z_values.end(), z.begin(), z.end());

  // Windows along x begin at addresses that are multiples of 16 bytes.
  const int align = element == Precision::tf32 ? 4 : 8;
  operand.x = pack_axis(stencil, x_axis, element, interleave_rows(full_pass(stencil, x_axis, element, align)),
                        factors.x);
  operand.y =
      pack_axis(stencil, y_axis, element, spread_rows(full_pass(stencil, y_axis, element, 1)), factors.y);
  return operand;
}

}  // namespace spsolve
