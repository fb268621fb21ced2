// SPDX-License-Identifier: Apache-2.0
//
// Operands of the kernels that read rows of 32 columns from shared memory. They must hold the stencil, and
// one word of metadata per lane must serve all rows of the window.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "kernels/magnitude.hpp"
#include "kernels/sparse/element_bits.hpp"
#include "kernels/sparse/packed_operand.hpp"
#include "kernels/sparse/weight_matrix.hpp"
#include "kernels/sparse/windowed_operand.hpp"

namespace spsolve {
namespace {

Stencil random_stencil(std::mt19937_64& random, const Index3& extent, const Index3& center) {
  std::vector<double> weights(static_cast<std::size_t>(volume(extent)));
  for (double& weight : weights) weight = std::uniform_real_distribution<double>(-1.0, 1.0)(random);
  return {extent, weights, center};
}

TEST(WindowedOperand, HoldsTheStencilWithTheSameMetadataForAllRows) {
  std::mt19937_64 random(9300u);
  const auto upto = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random);
  };
  for (int i = 0; i < 150; ++i) {
    const Precision element = i % 3 ? Precision::bf16 : Precision::tf32;
    const Index3 extent{1, 1 + upto(element == Precision::tf32 ? 14 : 32), 1 + upto(31)},
        center{0, upto(extent[1] - 1), upto(extent[2] - 1)};
    const Stencil stencil = random_stencil(random, extent, center);
    const auto window = input_window(stencil, element);
    ASSERT_TRUE(window);
    EXPECT_EQ(window->parts, extent[2] > 16 ? 2 : 1);
    std::map<std::pair<Index3, Index3>, double> found;  // key: output and input
    std::vector<std::uint32_t> metadata;
    for (int part = 0; part < window->parts; ++part) {
      const Operand operand = windowed_operand(stencil, *window, element, part);
      const std::vector<double> values = expand(operand).values;
      for (std::size_t m = 0; m < operand.outputs.size(); ++m)
        for (std::size_t k = 0; k < operand.inputs.size(); ++k)
          if (const double value = values[m * operand.inputs.size() + k]; value != 0) {
            EXPECT_TRUE(found.try_emplace({operand.outputs[m], operand.inputs[k]}, value).second);
          }
      const PackedOperand packed = pack(operand, widest_mma(element), MmaWarps::four);
      EXPECT_EQ(packed.steps, window->steps(element));
      if (part == 0)
        metadata.assign(packed.metadata_of(0, 0, 0), packed.metadata_of(0, 0, 0) + 4 * warp_lanes);
      for (int step = 0; step + 1 < packed.steps; step += packed.mma.selectors())
        for (int lane = 0; lane < 4 * warp_lanes; ++lane)
          ASSERT_EQ(packed.metadata_of(0, step, 0)[lane], metadata[static_cast<std::size_t>(lane)]);
    }
    std::map<std::pair<Index3, Index3>, double> wanted;
    for (const Index3& output : windowed_operand(stencil, *window, element).outputs)
      for (const Tap& tap : stencil.taps()) wanted[{output, output + tap.offset}] = tap.weight;
    EXPECT_EQ(found, wanted);
  }
}

/// Pairs must hold the weights to about 22 bits of a spacing of their grid, and their sum more exactly. First
/// terms must be small enough multiples of the grid that sums over a row with data of 11 bits are exact.
TEST(PairedWeights, HoldTheWeightsTheirSumAndSumsOfRows) {
  std::mt19937_64 random(9320u);
  for (int i = 0; i < 200; ++i) {
    const auto upto = [&](std::int64_t most) {
      return std::uniform_int_distribution<std::int64_t>(0, most)(random);
    };
    const Index3 extent{1, 2 + upto(13), 1 + upto(15)}, center{0, upto(extent[1] - 1), upto(extent[2] - 1)};
    const Stencil stencil = random_stencil(random, extent, center);
    const std::vector<double> weights = dense_weights(stencil);
    const PairedWeights pair = paired_weights(stencil);
    const std::int64_t columns = 2 * stencil.radius()[x_axis] + 1;
    double largest_row = 0, sum = 0;
    for (std::size_t row = 0; row < weights.size(); row += static_cast<std::size_t>(columns)) {
      double magnitude = 0;
      for (std::size_t k = row; k < row + static_cast<std::size_t>(columns); ++k)
        magnitude += std::abs(weights[k]);
      largest_row = std::max(largest_row, pair.scale * magnitude);
    }
    const double spacing = leading_grid(largest_row) / 2;
    EXPECT_LE(largest_row / spacing, 0x1.7p13);  // times 2^11: 24 bits, and half a bit more
    for (std::size_t k = 0; k < weights.size(); ++k) {
      EXPECT_EQ(std::remainder(pair.first[k], spacing), 0) << k;
      EXPECT_EQ(element_value(Precision::fp16, element_bits(Precision::fp16, pair.first[k])), pair.first[k]);
      const double second = pair_term_scale * pair.second[k];
      EXPECT_EQ(element_value(Precision::fp16, element_bits(Precision::fp16, second)), second);
      const double exact = pair.scale * weights[k];
      EXPECT_NEAR(pair.first[k] + pair.second[k], exact,
                  4 * unit_roundoff(Precision::fp16) *
                      std::max(spacing, unit_roundoff(Precision::fp16) * std::abs(exact)));
      sum += pair.first[k] + pair.second[k] - exact;
    }
    EXPECT_LE(std::abs(sum), unit_roundoff(Precision::fp16) * spacing);

    const auto window = input_window(stencil, Precision::fp32);
    ASSERT_TRUE(window);
    const SplitOperand both = windowed_pair(stencil, *window);
    const Operand whole = windowed_operand(stencil, *window, Precision::fp16);
    ASSERT_EQ(both.terms.size(), 2u);
    EXPECT_EQ(both.terms[0].indices, whole.indices);
    EXPECT_EQ(both.terms[1].inputs, whole.inputs);
    for (std::size_t k = 0; k < whole.values.size(); ++k)
      EXPECT_NEAR(both.terms[0].values[k] + both.terms[1].values[k] / both.term_scale,
                  both.scale * whole.values[k], spacing / 256);
  }
}

/// Data of any magnitude must be scaled into the range of fp16, and back by a power of two that fp32 can
/// hold.
TEST(DataScale, BringsDataIntoRange) {
  for (const float largest : {1.0f, 1.5f, 0x1p-100f, 0x1.fp100f, 0x1.fffffep127f, 3e-30f}) {
    const DataScale scale = data_scale(magnitude(-largest));
    EXPECT_EQ(std::exp2(std::round(std::log2(scale.by))), scale.by);
    EXPECT_EQ(scale.by * scale.inverse, 1);
    EXPECT_GE(scale.by * largest, 0x1p14);
    EXPECT_LT(scale.by * largest, 0x1p15);
  }
  for (const float largest : {0.0f, 0x1p-149f, 0x1p-126f}) {
    const DataScale scale = data_scale(magnitude(largest));
    EXPECT_EQ(scale.by, 0x1p126f) << largest;
    EXPECT_EQ(scale.inverse, 0x1p-126f) << largest;
  }
  for (const float largest : {std::numeric_limits<float>::infinity(), std::nanf("")})
    EXPECT_TRUE(std::isnan(data_scale(magnitude(largest)).by));
  EXPECT_GT(magnitude(-std::nanf("")), magnitude(std::numeric_limits<float>::infinity()));
  EXPECT_GT(magnitude(-1.5f), magnitude(1.0f));
}

TEST(WindowedOperand, IsOfStencilsThatFitOnly) {
  std::mt19937_64 random(9310u);
  const auto parts = [&](const Index3& extent, const Index3& center, Precision precision) {
    const auto window = input_window(random_stencil(random, extent, center), precision);
    return window ? window->parts : 0;
  };
  EXPECT_EQ(parts({1, 15, 15}, {0, 7, 7}, Precision::tf32), 1);
  EXPECT_EQ(parts({1, 15, 16}, {0, 7, 7}, Precision::tf32), 1);
  EXPECT_EQ(parts({1, 15, 16}, {0, 7, 7}, Precision::fp32), 1);
  EXPECT_EQ(parts({1, 15, 17}, {0, 7, 7}, Precision::fp32), 0);
  EXPECT_EQ(parts({1, 16, 3}, {0, 8, 1}, Precision::fp32), 0);
  EXPECT_EQ(parts({1, 15, 17}, {0, 7, 7}, Precision::tf32), 2);
  EXPECT_EQ(parts({1, 16, 3}, {0, 8, 1}, Precision::tf32), 0);
  EXPECT_EQ(parts({1, 33, 32}, {0, 8, 1}, Precision::fp16), 2);
  EXPECT_EQ(parts({1, 34, 3}, {0, 8, 1}, Precision::fp16), 0);
  EXPECT_EQ(parts({1, 3, 33}, {0, 1, 16}, Precision::fp16), 0);
  EXPECT_EQ(parts({3, 3, 3}, {1, 1, 1}, Precision::tf32), 0);
  EXPECT_TRUE(supports_window(random_stencil(random, {1, 9, 9}, {0, 4, 4}), Precision::fp32));
  EXPECT_TRUE(supports_window(random_stencil(random, {1, 3, 3}, {0, 1, 1}), Precision::tf32));
  EXPECT_TRUE(supports_window(random_stencil(random, {1, 15, 15}, {0, 7, 7}), Precision::fp16));
  EXPECT_FALSE(supports_window(random_stencil(random, {1, 1, 15}, {0, 0, 7}), Precision::fp16));
  EXPECT_TRUE(supports_window(random_stencil(random, {1, 17, 17}, {0, 8, 8}), Precision::fp16));
  EXPECT_FALSE(supports_window(random_stencil(random, {1, 17, 17}, {0, 8, 8}), Precision::fp64));
}

}  // namespace
}  // namespace spsolve
