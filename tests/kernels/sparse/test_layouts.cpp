// SPDX-License-Identifier: Apache-2.0
//
// Every layout must be the weight matrix of the stencil, and as sparse as the hardware requires, for any
// stencil.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "kernels/sparse/chained_pass.hpp"
#include "kernels/sparse/dual_tessellation.hpp"
#include "kernels/sparse/morph.hpp"
#include "kernels/sparse/separable.hpp"
#include "kernels/sparse/strided_swap.hpp"
#include "tests/kernels/sparse/stencil_zoo.hpp"

namespace spsolve {
namespace {

using testing::random_tile;
using testing::random_zoo_stencil;
using testing::row_width;

/// Returns true if no row uses more than `kept` columns of any group.
bool satisfies(const WeightMatrix& matrix, Sparsity sparsity) {
  for (std::size_t m = 0; m < matrix.rows(); ++m) {
    std::map<std::size_t, int> used;  // by group
    for (std::size_t k = 0; k < matrix.columns(); ++k)
      if (matrix.value(m, k) != 0.0 && ++used[k / sparsity.group] > sparsity.kept) return false;
  }
  return true;
}

/// Checks the defining property of an Operand: every output of the tile occurs once, with exactly the taps of
/// the stencil.
void expect_is_stencil(const Operand& operand, const Stencil& stencil) {
  const std::set<Index3> outputs(operand.outputs.begin(), operand.outputs.end());
  const auto tile = points_of(box_of(operand.tile));
  ASSERT_EQ(outputs, (std::set<Index3>(tile.begin(), tile.end())));
  ASSERT_EQ(operand.outputs.size(), outputs.size());
  ASSERT_EQ(operand.columns() % operand.sparsity.group, 0u);
  const WeightMatrix matrix = expand(operand);
  ASSERT_TRUE(satisfies(matrix, operand.sparsity));
  for (std::size_t m = 0; m < matrix.rows(); ++m) {
    std::map<Index3, double> taps;
    for (std::size_t k = 0; k < matrix.columns(); ++k) {
      if (matrix.value(m, k) == 0.0) continue;
      ASSERT_TRUE(taps.emplace(matrix.inputs[k] - matrix.outputs[m], matrix.value(m, k)).second)
          << "tap used twice";
    }
    ASSERT_EQ(taps.size(), stencil.taps().size());
    for (const Tap& tap : stencil.taps()) ASSERT_EQ(taps.at(tap.offset), tap.weight);
  }
}

void expect_increasing_indices(const Operand& operand) {
  const int kept = operand.sparsity.kept;
  for (std::size_t at = 0; at < operand.indices.size(); ++at) {
    EXPECT_LT(operand.indices[at], operand.sparsity.group);
    EXPECT_TRUE(at % kept == 0 || operand.indices[at - 1] < operand.indices[at]);
  }
}

/// Returns the same stencils as other tests up to seed 300, then a few that are as wide in 3D as in 2D.
testing::ZooStencil zoo_stencil(std::mt19937_64& random, int seed) {
  random.seed(static_cast<std::uint64_t>(seed));
  return random_zoo_stencil(random, seed < 300 ? 3 : 8);
}

class EveryStencil : public ::testing::TestWithParam<int> {
 protected:
  std::mt19937_64 random;
  testing::ZooStencil zoo = zoo_stencil(random, GetParam());
};

TEST_P(EveryStencil, MorphsByColumns) {
  const Operand operand = morph(zoo.stencil, random_tile(random, zoo.stencil, false), Pairing::columns);
  EXPECT_EQ(operand.sparsity, one_of_two);
  EXPECT_EQ(operand.columns() % 4, 0u);
  EXPECT_TRUE(satisfies(expand(operand), two_of_four));
  expect_is_stencil(operand, zoo.stencil);
}

TEST_P(EveryStencil, MorphsByPairsOfNeighbours) {
  const Operand operand = morph(zoo.stencil, random_tile(random, zoo.stencil, true), Pairing::x_pairs);
  EXPECT_EQ(operand.sparsity, two_of_four);
  expect_is_stencil(operand, zoo.stencil);
  expect_increasing_indices(operand);
  for (std::size_t k = 0; k < operand.columns(); k += 2) {  // each register is one 32-bit load
    EXPECT_EQ((operand.inputs[k][x_axis] % 2 + 2) % 2, 0);
    EXPECT_EQ(operand.inputs[k + 1], operand.inputs[k] + (Index3{0, 0, 1}));
  }
}

TEST_P(EveryStencil, SwapsColumns) {
  const int length = min_swap_length(row_width(zoo.stencil));
  for (const int rows : {1, 3}) {
    const Operand operand = strided_swap(zoo.stencil, length, x_axis, rows);
    EXPECT_EQ(operand.sparsity, one_of_two);
    expect_is_stencil(operand, zoo.stencil);
    for (std::size_t k = 0; k < operand.columns(); ++k) {  // the swap is an address offset of +-L
      const int j = static_cast<int>(k) % (2 * length);
      EXPECT_EQ(operand.inputs[k][x_axis], tap_box(zoo.stencil).begin[x_axis] + swapped_column(j, length));
    }
  }
}

TEST_P(EveryStencil, TessellatesTwice) {
  const Operand operand = dual_tessellation(zoo.stencil);
  expect_is_stencil(operand, zoo.stencil);
  const WeightMatrix matrix = expand(operand);
  const std::size_t n = row_width(zoo.stencil), half = matrix.columns() / 2;
  for (std::size_t m = 0; m < matrix.rows(); ++m) {
    for (std::size_t k = 0; k < half;
         ++k) {  // triangles: output m takes points m.. of A's run, and ..m - 1 of B's
      EXPECT_EQ(matrix.value(m, k % n < m ? k : half + k), 0.0);
    }
  }
}

TEST_P(EveryStencil, SplitsIntoSeparableTerms) {
  const auto weights = [&] {
    const Box taps = tap_box(zoo.stencil);
    std::map<Index3, double> of;
    for (const Tap& tap : zoo.stencil.taps()) of[tap.offset] = tap.weight;
    std::vector<double> dense_over_taps;
    for (const Index3& p : points_of(taps)) dense_over_taps.push_back(of.contains(p) ? of[p] : 0.0);
    return dense_over_taps;
  }();
  double total = 0;
  for (const double w : weights) total += std::abs(w);
  std::size_t last_terms = 0;
  for (const double tolerance : {0.3, 1e-3, 0.0}) {
    const SeparableStencil separable = separate(zoo.stencil, tolerance);
    const auto sum = dense_weights(separable);
    double rest = 0;
    for (std::size_t at = 0; at < sum.size(); ++at) rest += std::abs(weights[at] - sum[at]);
    // Each term is known to epsilon times the largest singular value, at every point.
    const double rounding = 0x1p-52 * static_cast<double>(sum.size() * (separable.terms.size() + 1));
    EXPECT_LE(rest / total, tolerance + rounding);
    EXPECT_NEAR(rest / total, separable.dropped, rounding);
    EXPECT_GE(separable.terms.size(), last_terms);
    last_terms = separable.terms.size();
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, EveryStencil, ::testing::Range(0, 330), [](const auto& which) {
  std::mt19937_64 random;
  return std::to_string(which.param) + "_" + zoo_stencil(random, which.param).name;
});

TEST(StridedSwap, HoldsExactlyFromTwoRPlusTwo) {
  for (int radius = 1; radius <= 16; ++radius) {
    const int width = 2 * radius + 1;
    const Stencil row({1, 1, width}, std::vector<double>(width, 0.5), {0, 0, radius});
    EXPECT_EQ(min_swap_length(width), 2 * radius + 2);
    for (int length = 2; length <= 4 * radius + 8; length += 2) {
      const bool holds = length >= 2 * radius + 2;
      if (length + 1 >= width) {  // 2L columns hold the band
        EXPECT_EQ(satisfies(swapped_band(row, length), two_of_four), holds) << radius << " " << length;
        EXPECT_EQ(satisfies(swapped_band(row, length), one_of_two), holds) << radius << " " << length;
      }
      if (holds)
        expect_is_stencil(strided_swap(row, length), row);
      else
        EXPECT_THROW(strided_swap(row, length), std::invalid_argument);
    }
    EXPECT_THROW(strided_swap(row, 2 * radius + 3), std::invalid_argument);  // odd
  }
}

TEST(StridedSwap, IsItsOwnInverse) {
  for (const int length : {2, 4, 16, 18})
    for (int j = 0; j < 2 * length; ++j) EXPECT_EQ(swapped_column(swapped_column(j, length), length), j);
}

TEST(StridedSwap, RunsAlongEveryAxis) {
  std::mt19937_64 random(7);
  for (int axis = 0; axis < axis_count; ++axis) {
    Index3 extent{3, 2, 5}, center{1, 0, 3};
    std::vector<double> weights(30);
    for (double& w : weights) w = std::uniform_real_distribution<double>(0.1, 1.0)(random);
    const Stencil stencil(extent, weights, center);
    const Operand operand = strided_swap(stencil, min_swap_length(static_cast<int>(extent[axis])), axis, 2);
    expect_is_stencil(operand, stencil);
    EXPECT_GE(operand.tile[axis], extent[axis] + 1);
  }
}

TEST(Compress, KeepsPlacesInTheUsedPair) {
  // A row that uses one of the two pairs of a group changes pairs if bit 1 of both indices flips.
  for (int first = 0; first < 4; ++first) {
    WeightMatrix matrix{{{0, 0, 0}}, std::vector<Index3>(4), std::vector<double>(4, 0.0)};
    matrix.value(0, first) = 1.0;
    const Operand operand = compress(matrix, {1, 1, 1}, two_of_four);
    EXPECT_EQ(operand.indices[0], first / 2 * 2);
    EXPECT_EQ(operand.indices[1], first / 2 * 2 + 1);
  }
}

TEST(Compress, RefusesThreeOfFour) {
  const WeightMatrix matrix{{{0, 0, 0}}, std::vector<Index3>(4), {1.0, 1.0, 0.0, 1.0}};
  EXPECT_FALSE(satisfies(matrix, two_of_four));
  EXPECT_THROW(compress(matrix, {1, 1, 1}, two_of_four), std::invalid_argument);
}

TEST(ChainedPass, HasTheRegisterOrderOfBothPasses) {
  for (int width = 1; width <= 40; ++width) {
    const int before = width / 2;
    const Stencil factor({1, width, 1}, std::vector<double>(width, 0.25), {0, before, 0});
    const Operand pass = chained_pass(factor, y_axis);
    expect_is_stencil(pass, factor);
    const std::int64_t distance = static_cast<std::int64_t>(pass.columns()) / 2,
                       start = pass.inputs[0][y_axis];
    EXPECT_EQ(distance % 16, 0);
    EXPECT_EQ(start % 8, 0);
    EXPECT_EQ(pass.columns(), width <= 16 ? 32u : width <= 32 ? 64u : 96u);
    for (std::size_t k = 0; k < pass.columns(); k += 4) {
      const std::int64_t c = pass.inputs[k][y_axis];
      EXPECT_EQ(c % 2, 0);
      EXPECT_EQ(pass.inputs[k + 1][y_axis], c + 1);
      EXPECT_EQ(pass.inputs[k + 2][y_axis], c + distance);
      EXPECT_EQ(pass.inputs[k + 3][y_axis], c + distance + 1);
    }
    // Column n of block r of the first pass must lie at the row that the second pass expects in register r
    // (see the header).
    for (int step = 0; step < distance / 16; ++step)
      for (int r = 0; r < 4; ++r)
        for (int n = 0; n < 8; ++n) {
          const int q = n / 2, h = n % 2;  // the accumulators 2q, 2q + 1 of a lane become halves 0 and 1
          EXPECT_EQ(pass.inputs[32 * step + 8 * r + 2 * q + h][y_axis] - start,
                    16 * step + n / 4 * 8 + n / 2 % 2 * distance + 2 * r + n % 2);
        }
  }
}

TEST(Separable, KernelOfKnownRank) {
  // exp(-x^2) exp(-2 y^2) has rank 1, and rank 2 after adding a constant. Any 1D stencil has rank 1.
  std::vector<double> gauss, shifted;
  for (int y = -3; y <= 3; ++y)
    for (int x = -4; x <= 4; ++x) {
      gauss.push_back(std::exp(-0.1 * x * x - 0.2 * y * y));
      shifted.push_back(gauss.back() + 0.5);
    }
  EXPECT_EQ(separate(Stencil({1, 7, 9}, gauss, {0, 3, 4}), 1e-12).terms.size(), 1u);
  EXPECT_EQ(separate(Stencil({1, 7, 9}, shifted, {0, 3, 4}), 1e-12).terms.size(), 2u);
  EXPECT_EQ(separate(Stencil({1, 1, 3}, {1.0, -2.0, 3.0}, {0, 0, 1}), 1e-12).terms.size(), 1u);
  // For the seven-point star, each of the two planes or singular vectors is a cross of rank 2.
  std::vector<double> star(27, 0.0);
  for (const std::size_t at : {4u, 10u, 12u, 13u, 14u, 16u, 22u}) star[at] = 1.0 + static_cast<double>(at);
  EXPECT_EQ(separate(Stencil({3, 3, 3}, star, {1, 1, 1}), 1e-12).terms.size(), 4u);
}

TEST(Separable, FactorsAreStencilsAlongTheirAxis) {
  const std::vector<double> y_factor{1.0, 2.0, -1.0}, x_factor{0.5, 0.25};
  std::vector<double> weights;
  for (const double a : y_factor)
    for (const double b : x_factor) weights.push_back(a * b);
  weights.insert(weights.begin(), 2, 0.0);  // the taps lie only below and to the right of the point
  const SeparableStencil separable = separate(Stencil({1, 4, 2}, weights, {0, 0, 0}), 1e-14);
  ASSERT_EQ(separable.terms.size(), 1u);
  const Stencil down = axis_stencil(separable, separable.terms[0], y_axis);
  const Stencil right = axis_stencil(separable, separable.terms[0], x_axis);
  ASSERT_EQ(down.taps().size(), 3u);
  ASSERT_EQ(right.taps().size(), 2u);
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 2; ++x) {
      EXPECT_EQ(down.taps()[y].offset, (Index3{0, y + 1, 0}));
      EXPECT_EQ(right.taps()[x].offset, (Index3{0, 0, x}));
      EXPECT_NEAR(down.taps()[y].weight * right.taps()[x].weight, y_factor[y] * x_factor[x], 8 * 0x1p-52);
    }
}

}  // namespace
}  // namespace spsolve
