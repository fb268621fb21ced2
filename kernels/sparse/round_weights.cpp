// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/round_weights.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/box.hpp"
#include "kernels/sparse/element_bits.hpp"
#include "kernels/sparse/separable.hpp"
#include "kernels/sparse/split.hpp"

namespace spsolve {
namespace {

double as_element(double value, Precision element) {
  return element_value(element, element_bits(element, value));
}

/// Returns the nearest number that operands of a precision can hold; for fp32 that is the sum of its terms.
double as_operand(double value, Precision precision, double grid) {
  const auto [element, terms] = operand_terms(precision);
  const std::vector<double> parts = split_weight(value, element, terms, grid);
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

}  // namespace

std::vector<double> round_weights(std::vector<double> weights, Precision precision) {
  if (precision == Precision::fp64 || weights.empty()) return weights;
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](auto a, auto b) { return std::abs(weights[a]) > std::abs(weights[b]); });
  const double largest = std::abs(weights[order.front()]);
  if (largest == 0) return weights;
  const double scale = precision == Precision::fp16 ? power_of_two_scale(largest) : 1.0;
  const double grid = leading_grid(sum_abs(weights));
  const auto rounded = [&](double weight) { return as_operand(weight * scale, precision, grid) / scale; };

  // Symmetric weights stay equal, because a difference would shift the field that they smooth.
  constexpr double noise = 0x1p-40;
  const auto opposite = [&](std::size_t i) { return weights.size() - 1 - i; };
  std::vector<bool> symmetric(weights.size());
  for (std::size_t i = 0; i < weights.size() / 2; ++i)
    if (std::abs(weights[i] - weights[opposite(i)]) <= noise * largest) {
      weights[opposite(i)] = weights[i];
      symmetric[i] = symmetric[opposite(i)] = true;
    }

  long double lost = 0;  // error of the sum
  for (double& weight : weights) {
    const double exact = weight;
    weight = rounded(exact);
    lost += static_cast<long double>(exact) - weight;
  }
  for (const std::size_t i : order) {
    if (weights[i] == 0) break;
    if (symmetric[i] && i > opposite(i)) continue;  // already moved with its mirror weight
    const int count = symmetric[i] ? 2 : 1;
    const double moved = rounded(static_cast<double>(weights[i] + lost / count));
    lost -= count * (static_cast<long double>(moved) - weights[i]);
    weights[i] = moved;
    if (symmetric[i]) weights[opposite(i)] = moved;
  }
  return weights;
}

std::optional<Stencil> round_weights(const Stencil& stencil, Precision precision) {
  const Index3 radius = stencil.radius();
  const std::vector<double> weights = round_weights(dense_weights(stencil), precision);
  if (std::ranges::all_of(weights, [](double weight) { return weight == 0; })) return std::nullopt;
  return Stencil(2 * radius + Index3{1, 1, 1}, weights, radius);
}

Stencil step_weights(const Stencil& stencil, Precision precision) {
  constexpr double least = 0x1p-126;  // smallest number that tf32 keeps
  if (precision != Precision::tf32 || sum_abs(stencil) < least) return stencil;
  const Index3 radius = stencil.radius(), extent = 2 * radius + Index3{1, 1, 1};
  std::vector<double> weights = dense_weights(stencil);
  const auto is_symmetric = [&](int axis) { return radius[axis] > 0 && is_even(stencil, axis); };
  if (!is_symmetric(x_axis) && !is_symmetric(y_axis) && !is_symmetric(z_axis))
    return round_weights(stencil, precision).value_or(stencil);
  double lost = 0;  // error of the sum
  for (double& weight : weights) {
    const double exact = weight;
    weight = as_element(exact, precision);
    lost += exact - weight;
  }
  double& center = weights[static_cast<std::size_t>(index_of(radius, extent))];
  if (center != 0) center = as_element(center + lost, precision);
  return {extent, weights, radius};
}

}  // namespace spsolve
