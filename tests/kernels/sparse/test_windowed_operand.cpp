// SPDX-License-Identifier: Apache-2.0
// Operands of the kernels that read rows of 32 columns from shared memory: they hold the stencil, and one
// word of metadata per lane serves all rows of the window.
#include <gtest/gtest.h>

#include <random>

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
  for (int i = 0; i < 100; ++i) {
    const Index3 extent{1, 1 + upto(14), 1 + upto(12)}, center{0, upto(extent[1] - 1), upto(extent[2] - 1)};
    const Stencil stencil = random_stencil(random, extent, center);
    const auto window = input_window(stencil);
    ASSERT_TRUE(window);
    for (const Precision element : {Precision::tf32, Precision::bf16}) {
      const Operand operand = windowed_operand(stencil, *window, element);
      EXPECT_EQ(expand(operand).values, weight_matrix(stencil, operand.outputs, operand.inputs).values);
      const PackedOperand packed = pack(operand, widest_mma(element), MmaWarps::four);
      for (int step = packed.mma.selectors(); step + 1 < packed.steps; step += packed.mma.selectors())
        for (int lane = 0; lane < 4 * warp_lanes; ++lane)
          ASSERT_EQ(packed.metadata_of(0, step, 0)[lane], packed.metadata_of(0, 0, 0)[lane]);
    }
  }
}

TEST(WindowedOperand, IsOfStencilsThatFitOnly) {
  std::mt19937_64 random(9310u);
  EXPECT_TRUE(input_window(random_stencil(random, {1, 15, 15}, {0, 7, 7})));
  EXPECT_TRUE(input_window(random_stencil(random, {1, 15, 16}, {0, 0, 8})));
  EXPECT_FALSE(
      input_window(random_stencil(random, {1, 15, 16}, {0, 7, 7})));  // begins between multiples of 4
  EXPECT_FALSE(input_window(random_stencil(random, {1, 16, 3}, {0, 8, 1})));
  EXPECT_FALSE(input_window(random_stencil(random, {3, 3, 3}, {1, 1, 1})));
  EXPECT_FALSE(takes_window(random_stencil(random, {1, 7, 7}, {0, 3, 3}), Precision::fp32));
  EXPECT_TRUE(takes_window(random_stencil(random, {1, 9, 9}, {0, 4, 4}), Precision::fp32));
  EXPECT_TRUE(takes_window(random_stencil(random, {1, 3, 3}, {0, 1, 1}), Precision::tf32));
  EXPECT_FALSE(takes_window(random_stencil(random, {1, 9, 9}, {0, 4, 4}), Precision::fp16));
}

}  // namespace
}  // namespace spsolve
