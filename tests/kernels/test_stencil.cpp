// SPDX-License-Identifier: Apache-2.0
#include "kernels/stencil.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>
#include <stdexcept>

namespace spsolve {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double infinity = std::numeric_limits<double>::infinity();

Stencil random_stencil(const Index3& extent, const Index3& center, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> weight(-1.0, 1.0);
  std::vector<double> weights(volume(extent));
  for (double& w : weights) w = weight(random);
  return Stencil(extent, weights, center);
}

double absolute_sum(const Stencil& stencil) {
  double sum = 0.0;
  for (const Tap& tap : stencil.taps()) sum += std::abs(tap.weight);
  return sum;
}

TEST(Stencil, KeepsNonZeroWeightsInOrderOfOffset) {
  const Stencil stencil({1, 2, 3}, {1.0, 0.0, 2.0, 0.0, 3.0, 4.0}, {0, 1, 2});
  const std::vector<Tap> wanted{{{0, -1, -2}, 1.0}, {{0, -1, 0}, 2.0}, {{0, 0, -1}, 3.0}, {{0, 0, 0}, 4.0}};
  EXPECT_EQ(stencil.taps(), wanted);
  EXPECT_EQ(stencil.radius(), (Index3{0, 1, 2}));
}

TEST(Stencil, RadiusIgnoresZeroMargins) {
  const Stencil stencil({1, 1, 7}, {0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0}, {0, 0, 3});
  EXPECT_EQ(stencil.radius(), (Index3{0, 0, 1}));
}

TEST(Stencil, RefusesWhatIsNoStencil) {
  EXPECT_THROW(Stencil({1, 1, 3}, {1, 2}, {0, 0, 1}), std::invalid_argument);
  EXPECT_THROW(Stencil({1, 1, 0}, {}, {0, 0, 0}), std::invalid_argument);
  EXPECT_THROW(Stencil({-1, -1, 1}, {1}, {0, 0, 0}), std::invalid_argument);
  EXPECT_THROW(Stencil({std::int64_t{1} << 32, std::int64_t{1} << 32, 1}, {1}, {0, 0, 0}),
               std::invalid_argument);
  EXPECT_THROW(Stencil({1, 1, 3}, {1, 2, 3}, {0, 0, 3}), std::invalid_argument);
  EXPECT_THROW(Stencil({1, 1, 3}, {1, 2, 3}, {0, -1, 0}), std::invalid_argument);
  EXPECT_THROW(Stencil({1, 1, 3}, {1, infinity, 3}, {0, 0, 0}), std::invalid_argument);
  EXPECT_THROW(Stencil({1, 1, 3}, {1, std::nan(""), 3}, {0, 0, 0}), std::invalid_argument);
  EXPECT_THROW(Stencil({1, 1, 3}, {0, 0, 0}, {0, 0, 0}), std::invalid_argument);
}

TEST(DenseWeights, AreCenteredOnThePoint) {
  const Stencil stencil({1, 2, 2}, {1, 2, 3, 4}, {0, 0, 0});
  EXPECT_EQ(dense_weights(stencil), (std::vector<double>{0, 0, 0, 0, 1, 2, 0, 3, 4}));
}

TEST(DenseWeights, GiveTheSameStencilBack) {
  const Stencil stencil = random_stencil({3, 2, 5}, {2, 0, 1}, 1);
  const Index3 r = stencil.radius();
  const Stencil again({2 * r[0] + 1, 2 * r[1] + 1, 2 * r[2] + 1}, dense_weights(stencil), r);
  EXPECT_EQ(again.taps(), stencil.taps());
}

TEST(FuseSteps, OfOneStepIsTheStencil) {
  const Stencil stencil = random_stencil({2, 3, 4}, {1, 2, 0}, 2);
  EXPECT_EQ(fuse_steps(stencil, 1).taps(), stencil.taps());
}

TEST(FuseSteps, GivesBinomialCoefficients) {
  // Weights are powers of two, so every product and sum is exact.
  const Stencil symmetric({1, 1, 3}, {0.25, 0.5, 0.25}, {0, 0, 1});
  EXPECT_EQ(dense_weights(fuse_steps(symmetric, 2)),
            (std::vector<double>{1. / 16, 4. / 16, 6. / 16, 4. / 16, 1. / 16}));
  // The stencil has one side: u'[p] = u[p + 1] + 2 u[p + 2], so three steps reach from p + 3 to p + 6.
  const Stencil ahead({1, 2, 1}, {1.0, 2.0}, {0, 0, 0});
  const std::vector<Tap> wanted{{{0, 0, 0}, 1.0}, {{0, 1, 0}, 6.0}, {{0, 2, 0}, 12.0}, {{0, 3, 0}, 8.0}};
  EXPECT_EQ(fuse_steps(ahead, 3).taps(), wanted);
}

TEST(FuseSteps, DropsWeightsThatCancel) {
  const Stencil difference({1, 1, 3}, {-1.0, 0.0, 1.0}, {0, 0, 1});
  const std::vector<Tap> wanted{{{0, 0, -2}, 1.0}, {{0, 0, 0}, -2.0}, {{0, 0, 2}, 1.0}};
  EXPECT_EQ(fuse_steps(difference, 2).taps(), wanted);
}

TEST(FuseSteps, RefusesLessThanOne) {
  EXPECT_THROW(fuse_steps(Stencil({1, 1, 1}, {1.0}, {0, 0, 0}), 0), std::invalid_argument);
}

// By the convolution theorem the symbol of t steps is the t-th power of the symbol of one.
TEST(FuseSteps, MultipliesSymbols) {
  const Index3 shape{5, 7, 6};
  const Stencil stencil = random_stencil({2, 3, 3}, {1, 0, 1}, 3);
  for (const int steps : {2, 3, 5}) {
    const Stencil fused = fuse_steps(stencil, steps);
    const auto once = sampled_symbol(stencil, shape), often = sampled_symbol(fused, shape);
    ASSERT_EQ(once.size(), often.size());
    // The error of a term is the rounding of its phase (up to 2 pi times the sum of radii, three products and
    // sums), and that of the sum one rounding per term. The t-th power of a symbol has t times its relative
    // error.
    const Index3 r = fused.radius();
    const double phase = 3.0 * 2.0 * std::numbers::pi * static_cast<double>(r[0] + r[1] + r[2]);
    const double bound = std::pow(absolute_sum(stencil), steps) * epsilon * (steps + 1) *
                         (phase + static_cast<double>(fused.taps().size()));
    for (std::size_t i = 0; i < once.size(); ++i)
      EXPECT_LE(std::abs(often[i] - std::pow(once[i], steps)), bound);
  }
}

TEST(SampledSymbol, IsTheSumOverAllTapsOfEveryWaveInSpace) {
  const Index3 shape{3, 4, 5};
  const Stencil stencil = random_stencil({2, 3, 4}, {0, 2, 1}, 5);
  const auto symbols = sampled_symbol(stencil, shape);
  ASSERT_EQ(symbols.size(), 3u * 4 * 3);  // half of the waves along x
  std::size_t i = 0;
  for_each_point(box_of({3, 4, 3}), [&](const Index3& wave) {
    std::complex<double> wanted = 0;
    for (const Tap& tap : stencil.taps()) {
      double turns = 0;
      for (int axis = 0; axis < axis_count; ++axis)
        turns += static_cast<double>(wave[axis] * tap.offset[axis]) / static_cast<double>(shape[axis]);
      wanted += tap.weight * std::polar(1.0, 2.0 * std::numbers::pi * turns);
    }
    // The error of each term is the rounding of its phase (three axes, up to 2 pi times a radius of 2) and of
    // products.
    const double bound = absolute_sum(stencil) * epsilon * (3 * 4 * std::numbers::pi + 24);
    EXPECT_LE(std::abs(symbols[i++] - wanted), bound);
  });
}

TEST(SampledSymbol, HoldsTheConstantAndEveryWaveOfASmallGrid) {
  const Stencil stencil({1, 1, 3}, {0.5, 0.25, 0.125}, {0, 0, 1});
  const auto symbols = sampled_symbol(stencil, {1, 1, 5});
  ASSERT_EQ(symbols.size(), 3u);  // 0, 1, 2; 3 and 4 are the conjugates
  for (int m = 0; m < 3; ++m) {
    const double theta = 2.0 * std::numbers::pi * m / 5.0;
    const std::complex<double> wanted{0.25 + 0.625 * std::cos(theta), -0.375 * std::sin(theta)};
    EXPECT_LE(std::abs(symbols[m] - wanted), 8 * epsilon);
  }
}

TEST(GrowthFactor, OfDiffusionIsThatOfTheShortestWave) {
  const double s = 0.6;
  const Stencil stencil({1, 1, 3}, {s, 1.0 - 2.0 * s, s}, {0, 0, 1});
  EXPECT_NEAR(growth_factor(stencil, Index3{1, 1, 64}), 4.0 * s - 1.0, 8 * epsilon);
  // An odd grid does not hold the wave of two points; its shortest wave has m = (n - 1) / 2.
  const double half_angle = std::numbers::pi * 3.0 / 7.0;
  EXPECT_NEAR(growth_factor(stencil, Index3{1, 1, 7}), 4.0 * s * std::pow(std::sin(half_angle), 2) - 1.0,
              16 * epsilon);
  // Grids with more points than are sampled still include the shortest wave.
  EXPECT_NEAR(growth_factor(stencil, Index3{1, 1, 1'000'000}), 4.0 * s - 1.0, 8 * epsilon);
}

TEST(GrowthFactor, IsAtLeastTheSumOfWeights) {
  const Stencil stencil({1, 1, 2}, {0.75, 0.5}, {0, 0, 0});
  EXPECT_NEAR(growth_factor(stencil, Index3{1, 1, 9}), 1.25, 4 * epsilon);
}

TEST(GrowthFactor, SeesAxesOfOnePoint) {
  // A grid of one point in y holds only waves along x, where the weights of a column act as their sum.
  const Stencil stencil({1, 3, 1}, {1.0, -1.0, 1.0}, {0, 1, 0});
  EXPECT_NEAR(growth_factor(stencil, Index3{1, 1, 8}), 1.0, 4 * epsilon);
  EXPECT_NEAR(growth_factor(stencil, Index3{1, 8, 8}), 3.0, 8 * epsilon);
}

TEST(SampledWaves, AreThoseOfTheSymbols) {
  const Stencil stencil(
      {2, 3, 4}, {1, -2, 3, 4, 5, 6, -7, 8, 9, 1, 2, 3, 4, 5, 6, -7, 8, 9, 1, 2, -3, 4, 5, 6}, {1, 1, 1});
  for (const Index3& shape :
       {Index3{16, 32, 512}, Index3{1, 32, 512}, Index3{1, 1, 70000}, Index3{40, 300, 7}}) {
    const auto symbols = sampled_symbol(stencil, shape);
    const auto waves = sampled_waves(shape);
    ASSERT_EQ(waves.size(), symbols.size());
    for (std::size_t i = 0; i < waves.size(); i += 97) {
      std::complex<double> sum;
      for (const Tap& tap : stencil.taps())
        sum += tap.weight *
               std::polar(1.0, std::inner_product(waves[i].begin(), waves[i].end(), tap.offset.begin(), 0.0));
      EXPECT_NEAR(std::abs(sum - symbols[i]), 0, 1e-11) << i;
    }
  }
}

}  // namespace
}  // namespace spsolve
