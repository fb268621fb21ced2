// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/round_weights.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/sparse/packed_operand.hpp"
#include "kernels/sparse/split.hpp"

namespace spsolve {
namespace {

double as_element(double value, Precision element) {
  return element_value(element, element_bits(element, value));
}

/// The nearest sum of a number of tf32 and one of bf16: what mixed products take.
double as_mixed(double value) {
  const double leading = as_element(value, Precision::tf32);
  return leading + as_element(value - leading, Precision::bf16);
}

/// Weights that `rounded` leaves as they are, their sum as near to the sum as that allows.
template <class Rounded>
std::vector<double> keep_sum(std::vector<double> weights, Rounded&& rounded) {
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return std::abs(weights[a]) > std::abs(weights[b]); });
  const double largest = std::abs(weights[order.front()]);
  if (largest == 0) return weights;

  // Weights that mirror each other stay equal: a difference would move what they smooth.
  constexpr double noise = 0x1p-40;
  const auto mirror_of = [&](std::size_t i) { return weights.size() - 1 - i; };
  std::vector<bool> mirrored(weights.size());
  for (std::size_t i = 0; i < weights.size() / 2; ++i)
    if (std::abs(weights[i] - weights[mirror_of(i)]) <= noise * largest) {
      weights[mirror_of(i)] = weights[i];
      mirrored[i] = mirrored[mirror_of(i)] = true;
    }

  long double lost = 0;  // by the sum
  for (double& weight : weights) {
    const double exact = weight;
    weight = rounded(exact);
    lost += static_cast<long double>(exact) - weight;
  }
  for (const std::size_t i : order) {
    if (weights[i] == 0) break;
    if (mirrored[i] && i > mirror_of(i)) continue;  // moved with its image
    const int count = mirrored[i] ? 2 : 1;
    const double moved = rounded(static_cast<double>(weights[i] + lost / count));
    lost -= count * (static_cast<long double>(moved) - weights[i]);
    weights[i] = moved;
    if (mirrored[i]) weights[mirror_of(i)] = moved;
  }
  return weights;
}

}  // namespace

std::vector<double> round_weights(std::vector<double> weights, Precision element) {
  if (element == Precision::fp64 || element == Precision::fp32 || weights.empty()) return weights;
  double largest = 0;
  for (const double weight : weights) largest = std::max(largest, std::abs(weight));
  const double scale = element == Precision::fp16 && largest > 0 ? power_of_two_scale(largest) : 1.0;
  return keep_sum(std::move(weights), [&](double w) { return as_element(w * scale, element) / scale; });
}

std::vector<double> round_mixed_weights(std::vector<double> weights) {
  return keep_sum(std::move(weights), as_mixed);
}

Stencil round_weights(const Stencil& stencil, Precision element) {
  const Index3 radius = stencil.radius();
  const bool mixed = element == Precision::fp32 && takes_mixed_split(stencil.taps().size());
  const std::vector<double> weights =
      mixed ? round_mixed_weights(dense_weights(stencil)) : round_weights(dense_weights(stencil), element);
  if (std::all_of(weights.begin(), weights.end(), [](double weight) { return weight == 0; }))
    throw std::invalid_argument("the weights of so many fused steps are too small for " +
                                std::string(to_string(element)));
  return {2 * radius + Index3{1, 1, 1}, weights, radius};
}

}  // namespace spsolve
