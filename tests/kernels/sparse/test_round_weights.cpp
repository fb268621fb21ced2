// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

#include "kernels/sparse/element_bits.hpp"
#include "kernels/sparse/round_weights.hpp"
#include "kernels/sparse/split.hpp"

namespace spsolve {
namespace {

class RoundWeights : public ::testing::TestWithParam<Precision> {};

TEST_P(RoundWeights, KeepsTheSumAndStaysNear) {
  const Precision element = GetParam();
  std::mt19937_64 random(31);
  for (int which = 0; which < 500; ++which) {
    std::vector<double> weights(1 + which % 60);
    for (double& w : weights)
      w = std::uniform_real_distribution<double>(which % 3 ? 0.0 : -1.0, 1.0)(random) *
          std::pow(10.0, -(which % 5) * std::uniform_real_distribution<double>(0.0, 1.0)(random));
    const auto rounded = round_weights(weights, element);
    double largest = 0, smallest = 1e300;
    long double change = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      largest = std::max(largest, std::abs(weights[i]));
      if (rounded[i] != 0) smallest = std::min(smallest, std::abs(rounded[i]));
      change += static_cast<long double>(rounded[i]) - weights[i];
    }
    const double u = unit_roundoff(element), count = static_cast<double>(weights.size());
    const double scale = element == Precision::fp16 ? power_of_two_scale(largest) : 1.0;
    const double subnormal = element == Precision::fp16 ? 0x1p-25 / scale : 0;
    // A spacing is at most 2 u |w|.
    EXPECT_LE(std::abs(static_cast<double>(change)), u * smallest * 2 + subnormal) << which;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      EXPECT_LE(std::abs(rounded[i] - weights[i]), (count + 1) * 2 * u * largest) << which;
      // The rounded weight must be an exact operand, also with the scale of the rounded weights.
      const double scaled = rounded[i] * scale;
      EXPECT_EQ(element_value(element, element_bits(element, scaled)), scaled);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, RoundWeights,
                         ::testing::Values(Precision::fp16, Precision::bf16, Precision::tf32),
                         [](const auto& which) { return std::string(to_string(which.param)); });

TEST(RoundWeights, LeavesSymmetricWeightsSymmetric) {
  for (const Precision element : {Precision::fp16, Precision::bf16, Precision::tf32}) {
    std::vector<double> binomial{1.0};
    for (int step = 0; step < 7; ++step) {
      std::vector<double> next(binomial.size() + 2, 0.0);
      for (std::size_t i = 0; i < binomial.size(); ++i)
        for (const std::size_t shift : {0, 1, 2}) next[i + shift] += binomial[i] / 3;
      binomial = next;
    }
    const auto rounded = round_weights(binomial, element);
    double sum = 0;
    for (std::size_t i = 0; i < rounded.size(); ++i) {
      EXPECT_EQ(rounded[i], rounded[rounded.size() - 1 - i]) << i;
      sum += rounded[i];
    }
    EXPECT_NEAR(sum, 1.0,
                2 * unit_roundoff(element) * 2 * binomial[0] + (element == Precision::fp16 ? 0x1p-25 : 0));
  }
  const Stencil heat({1, 3, 3}, {0, .1, 0, .1, .6, .1, 0, .1, 0}, {0, 1, 1});
  double sum = 0;
  const Stencil rounded_heat = *round_weights(heat, Precision::fp16);
  for (const Tap& tap : rounded_heat.taps()) {
    sum += tap.weight;
    EXPECT_NEAR(tap.weight, tap.offset == Index3{} ? .6 : .1, 4 * 0x1p-11 * tap.weight);
  }
  EXPECT_NEAR(sum, 1.0, 0x1p-12);
}

/// Symmetric weights must stay symmetric, because kernels fold them. The sums of other weights must not
/// drift.
TEST(RoundWeights, OfSingleStepsKeepMirrorsOrTheSum) {
  const auto sum_of = [](const Stencil& stencil) {
    double sum = 0;
    for (const Tap& tap : stencil.taps()) sum += tap.weight;
    return sum;
  };
  const Stencil symmetric({1, 3, 3}, {.01, .1, .01, .1, .56, .1, .01, .1, .01}, {0, 1, 1});
  const std::vector<double> weights = dense_weights(step_weights(symmetric, Precision::tf32));
  for (const int corner : {2, 6, 8}) EXPECT_EQ(weights[0], weights[corner]);
  for (const int side : {3, 5, 7}) EXPECT_EQ(weights[1], weights[side]);
  EXPECT_NEAR(sum_of(step_weights(symmetric, Precision::tf32)), 1.0, .56 * unit_roundoff(Precision::tf32));
  const Stencil upwind({1, 1, 3}, {.37, .62, .01}, {0, 0, 1});
  EXPECT_NEAR(sum_of(step_weights(upwind, Precision::tf32)), 1.0, .01 * 2 * unit_roundoff(Precision::tf32));
  EXPECT_EQ(step_weights(upwind, Precision::fp16).taps(), upwind.taps());
  const Stencil tiny({1, 1, 1}, {1e-60}, {0, 0, 0});
  EXPECT_EQ(step_weights(tiny, Precision::tf32).taps(), tiny.taps());
}

/// Rounded weights must be exact sums of three terms and keep their sum to the last bit of the smallest.
TEST(RoundWeights, OfFp32AreSumsOfTermsAndKeepTheirSum) {
  std::mt19937_64 random(19);
  std::uniform_real_distribution<double> value(-1.0, 1.0);
  for (int which = 0; which < 200; ++which) {
    std::vector<double> weights(1 + which);
    double exact = 0, magnitude = 0, smallest = 1e300;
    for (double& w : weights)
      exact += std::abs(w = value(random) * std::pow(10.0, -(which % 4) * std::abs(value(random))));
    if (which % 2)  // at a boundary between grids, where the grid of the rounded weights may differ
      for (double& w : weights) w *= std::numbers::sqrt2 / exact;
    const std::vector<double> rounded = round_weights(weights, Precision::fp32);
    long double change = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      magnitude += std::abs(weights[i]);
      smallest = std::min(smallest, std::abs(rounded[i]));
      change += static_cast<long double>(rounded[i]) - weights[i];
    }
    const double u = unit_roundoff(Precision::bf16), count = static_cast<double>(weights.size());
    EXPECT_LE(std::abs(static_cast<double>(change)), 2 * u * u * smallest) << which;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      EXPECT_LE(std::abs(rounded[i] - weights[i]), (count + 1) * 2 * u * u * u * magnitude) << which;
      double sum = 0;
      for (const double part : split_weight(rounded[i], Precision::bf16, 3, leading_grid(magnitude)))
        sum += part;
      EXPECT_EQ(sum, rounded[i]) << which << ' ' << i;
    }
  }
}

TEST(RoundWeights, LeavesFp64Alone) {
  const std::vector<double> weights{0.1, 0.2, 0.7};
  EXPECT_EQ(round_weights(weights, Precision::fp64), weights);
}

}  // namespace
}  // namespace spsolve
