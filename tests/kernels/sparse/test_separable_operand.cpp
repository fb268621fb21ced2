// SPDX-License-Identifier: Apache-2.0
//
// Runs the chain of passes as the kernel does, on emulated instructions and on numbers for which every sum is
// exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "kernels/sparse/element_bits.hpp"
#include "kernels/sparse/emulation/sparse_mma.hpp"
#include "kernels/sparse/separable_operand.hpp"

namespace spsolve {
namespace {

constexpr int slab_rows = 16;

/// Returns a factor of eighths that sum to 1, so that products with small integers fit any format.
std::vector<double> dyadic_factor(std::mt19937_64& random, std::int64_t taps) {
  std::vector<double> factor(static_cast<std::size_t>(taps), 0.0);
  for (int eighth = 0; eighth < 8; ++eighth) factor[random() % factor.size()] += 0.125;
  return factor;
}

/// Computes with one warp: 16 columns from 0, and the rows that two blocks of input complete.
class Chain {
 public:
  explicit Chain(const SeparableOperand& operand) : operand_(operand), mma_(widest_mma(operand.element)) {}

  template <class Value>
  std::vector<std::array<double, slab_rows>> rows(Value&& value) const {
    const int blocks_rows = 2 * slab_rows * operand_.y.windows;
    std::vector<std::vector<Fragment>> blocks;  // [block][rank, window, half]
    for (int block = 0; block < 2; ++block)
      blocks.push_back(
          along_x([&](int row, int column) { return value(row + block * blocks_rows, column); }));
    std::vector<std::array<double, slab_rows>> out;
    for (int i = 0; i <= 2 * operand_.y.windows; ++i) along_y(blocks, i, out);
    return out;
  }

 private:
  /// Holds one value per lane and position, where r and h select a half pair: [lane][2 r + h].
  using Fragment = WarpRegisters<double, 8>;

  void multiply(WarpRegisters<float, 4>& d, const ChainedAxis& axis, int rank, int window, bool other_pair,
                const Fragment& b) const {
    const int per_term = axis.windows * operand_.per_window();
    for (int term = 0; term < operand_.terms; ++term)
      for (int part = 0; part < operand_.per_window(); ++part) {
        const int i = window * operand_.per_window() + part;
        std::array<std::uint32_t, warp_lanes> metadata{};
        for (int lane = 0; lane < warp_lanes; ++lane)
          metadata[lane] = axis.metadata[i / 2 * warp_lanes + lane] ^ (other_pair ? 0xaaaaaaaau : 0u);
        WarpRegisters<std::uint32_t, 4> words{};
        for (int lane = 0; lane < warp_lanes; ++lane)
          for (int word = 0; word < 4; ++word)
            words[lane][word] = operand_.element == Precision::tf32
                                    ? element_bits(operand_.element, b[lane][4 * part + word])
                                    : element_bits(operand_.element, b[lane][2 * word]) |
                                          element_bits(operand_.element, b[lane][2 * word + 1]) << 16;
        sparse_mma(mma_, &axis.values[((rank * operand_.terms + term) * per_term + i) * warp_lanes * 4],
                   metadata.data(), i % 2, words, d);
      }
  }

  template <class Value>
  std::vector<Fragment> along_x(Value&& value) const {
    const int x_windows = operand_.x.windows, y_windows = operand_.y.windows;
    std::vector<Fragment> next(operand_.x_rank * y_windows * 2);
    for (int m = 0; m < y_windows; ++m)
      for (int r = 0; r < 4; ++r)
        for (int k = 0; k < operand_.x_rank; ++k) {
          WarpRegisters<float, 4> d{};
          for (int window = 0; window < x_windows; ++window) {
            Fragment b{};
            for (int lane = 0; lane < warp_lanes; ++lane) {
              const int g = lane / 4, q = lane % 4;
              const int row = slab_rows * m + g / 4 * 8 + g / 2 % 2 * slab_rows * y_windows + 2 * r + g % 2;
              const int slab_of_lane = window < operand_.x.paired ? q % 2 * x_windows : 0;
              for (int j = 0; j < 8; ++j)
                b[lane][j] =
                    value(row, operand_.x.begin + slab_rows * (window + slab_of_lane) + q / 2 * 8 + j);
            }
            multiply(d, operand_.x, k, window, false, b);
          }
          for (int lane = 0; lane < warp_lanes; ++lane)
            for (int c = 0; c < 4; ++c)
              next[(k * y_windows + m) * 2 + c / 2][lane][2 * r + c % 2] = static_cast<double>(d[lane][c]);
        }
    return next;
  }

  /// Computes 16 rows, i slabs after the first.
  void along_y(const std::vector<std::vector<Fragment>>& blocks, int i,
               std::vector<std::array<double, slab_rows>>& out) const {
    constexpr std::array<std::size_t, 8> spread{0, 5, 3, 6, 1, 4, 2, 7};  // rows of results
    const int windows = operand_.y.windows;
    const std::size_t first = out.size();
    out.resize(first + slab_rows);
    for (int half = 0; half < 2; ++half) {
      WarpRegisters<float, 4> d{};
      for (int k = 0; k < operand_.rank; ++k)
        for (int m = 0; m < windows; ++m) {
          const int n = i + m, at = (operand_.x_of[k] * windows + n % windows) * 2 + half;
          Fragment b = blocks[n / (2 * windows)][at];
          const bool joined = n / windows == 1;
          for (int lane = 0; joined && lane < warp_lanes; ++lane)
            if (lane % 2 == 0) b[lane] = blocks[1][at][lane];
          multiply(d, operand_.y, k, m, joined, b);
        }
      for (int lane = 0; lane < warp_lanes; ++lane)
        for (int c = 0; c < 4; ++c)
          out[first + spread[lane / 4] + 8 * (c / 2)][lane % 4 * 4 + 2 * half + c % 2] =
              static_cast<double>(d[lane][c] * operand_.scale);
    }
  }

  const SeparableOperand& operand_;
  MmaShape mma_;
};

TEST(SeparableOperand, ChainsToTheCorrelation) {
  std::mt19937_64 random(5);
  for (const Precision precision : {Precision::fp16, Precision::bf16, Precision::tf32, Precision::fp32})
    for (int which = 0; which < 12; ++which) {
      const std::int64_t x_radius = which % 2 ? random() % 8 : random() % 24, y_radius = random() % 24;
      const Box taps{{0, -y_radius, -x_radius}, {1, y_radius + 1, x_radius + 1}};
      SeparableStencil stencil{taps, {}, 0.0};
      for (int k = 0; k < 1 + which % 3; ++k)
        stencil.terms.push_back(
            {{std::vector<double>{1.0}, dyadic_factor(random, 2 * y_radius + 1),
              k == 1 ? stencil.terms[0].factor[x_axis] : dyadic_factor(random, 2 * x_radius + 1)}});
      const SeparableOperand operand = separable_operand(stencil, precision);
      std::vector<double> data(400 * 200);
      for (double& value : data) value = static_cast<double>(random() % 4);
      const auto value = [&](std::int64_t row, std::int64_t column) {
        return data[(row + 100) * 200 + column + 100];
      };
      const auto found =
          Chain(operand).rows([&](int row, int column) { return value(row + operand.y.begin, column); });
      ASSERT_EQ(found.size(), static_cast<std::size_t>(slab_rows * (2 * operand.y.windows + 1)));
      for (std::size_t row = 0; row < found.size(); ++row)
        for (int column = 0; column < slab_rows; ++column) {
          double expected = 0;
          std::size_t i = 0;
          const auto weights = dense_weights(stencil);
          for_each_point(taps, [&](const Index3& tap) {
            expected += weights[i++] * value(static_cast<std::int64_t>(row) + tap[1], column + tap[2]);
          });
          ASSERT_EQ(found[row][column], expected) << to_string(precision) << " radius " << y_radius << ' '
                                                  << x_radius << " row " << row << " column " << column;
        }
    }
}

TEST(SeparableOperand, SharesFactorsThatDifferByANumber) {
  const std::vector<double> a{1.0, 2.0, 1.0}, b{-1.0, 0.0, 1.0}, c{1.0, 6.0, 1.0}, twice_b{2.0, 0.0, -2.0};
  const SeparableStencil stencil{
      {{-1, -1, -1}, {2, 2, 2}}, {{{a, c, a}}, {{b, c, b}}, {{a, c, twice_b}}, {{twice_b, b, a}}}, 0.0};
  const SeparableOperand operand = separable_operand(stencil, Precision::fp16);
  EXPECT_EQ(operand.rank, 4);
  EXPECT_EQ(operand.x_rank, 2);
  EXPECT_EQ(operand.x_of, (std::vector<int>{0, 1, 1, 0}));
  EXPECT_EQ(operand.z_of, (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(operand.z_begin, -1);
  EXPECT_EQ(operand.z_values, (std::vector<float>{0.25f, 0.5f, 0.25f, -0.5f, 0.0f, 0.5f}));
}

TEST(Separable, BasesAlongTwoAxesShareFactors) {
  // The weights are a sum over corners, edges, faces and the middle of a cube, with two base vectors along
  // each axis.
  std::vector<double> weights;
  for_each_point(box_of({3, 3, 3}), [&](const Index3& p) {
    weights.push_back(1.0 / (1 + (p[0] != 1) + (p[1] != 1) + (p[2] != 1)));
  });
  const Stencil stencil = fuse_steps(Stencil({3, 3, 3}, weights, {1, 1, 1}), 2);
  const SeparableStencil separable = separate(stencil, 1e-13);
  const SeparableOperand operand = separable_operand(separable, Precision::fp16);
  EXPECT_EQ(operand.rank, 9);
  EXPECT_EQ(operand.x_rank, 3);
  EXPECT_EQ(operand.z_rank, 3);
  double error = 0, total = 0;
  const std::vector<double> found = dense_weights(separable), wanted = dense_weights(stencil);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    error += std::abs(found[i] - wanted[i]), total += std::abs(wanted[i]);
  EXPECT_LE(error, 1e-13 * total);
}

TEST(SeparableOperand, KeepsTheSumOfTheWeights) {
  std::mt19937_64 random(6);
  std::uniform_real_distribution<double> weight(0.0, 1.0);
  for (const Precision precision : {Precision::fp16, Precision::bf16, Precision::tf32, Precision::fp32}) {
    SeparableStencil stencil{{{0, -7, -7}, {1, 8, 8}}, {{{std::vector<double>{1.0}, {}, {}}}}, 0.0};
    double sum = 1;
    for (const int axis : {y_axis, x_axis}) {
      double along = 0;
      for (int i = 0; i < 15; ++i) along += stencil.terms[0].factor[axis].emplace_back(weight(random));
      sum *= along;
    }
    const SeparableOperand operand = separable_operand(stencil, precision);
    double found = 1;
    for (const ChainedAxis* axis : {&operand.x, &operand.y}) {
      // Row 0 of A is in lanes 0 to 3, registers 0 and 2, of all terms and instructions.
      double along = 0;
      for (std::size_t i = 0; i < axis->values.size() / (warp_lanes * 4); ++i)
        for (int lane = 0; lane < 4; ++lane)
          for (const int word : {0, 2}) {
            const std::uint32_t bits = axis->values[(i * warp_lanes + lane) * 4 + word];
            along += operand.element == Precision::tf32 ? element_value(operand.element, bits)
                                                        : element_value(operand.element, bits & 0xffff) +
                                                              element_value(operand.element, bits >> 16);
          }
      found *= along;
    }
    // The tolerance is half a spacing of the smallest of 15 weights.
    EXPECT_NEAR(found * operand.scale / sum, 1.0, unit_roundoff(precision)) << to_string(precision);
  }
}

/// Returns the weights of a factor in the first row of A (lanes 0 to 3, registers 0 and 2, all operand terms
/// added), in increasing order and without zeros.
std::vector<double> weights_of_row(const SeparableOperand& operand, const ChainedAxis& axis, int rank) {
  const std::size_t per_term = static_cast<std::size_t>(axis.windows * operand.per_window()) * warp_lanes * 4;
  const int halves = operand.element == Precision::tf32 ? 1 : 2;
  std::vector<double> weights;
  for (std::size_t at = 0; at < per_term; ++at) {
    if (at / 4 % warp_lanes >= 4 || at % 2 != 0) continue;
    for (int half = 0; half < halves; ++half) {
      double weight = 0;
      for (int term = 0; term < operand.terms; ++term) {
        const std::uint32_t bits =
            axis.values[static_cast<std::size_t>(rank * operand.terms + term) * per_term + at];
        weight += element_value(operand.element, halves == 1 ? bits : bits >> 16 * half & 0xffff);
      }
      if (weight != 0) weights.push_back(weight);
    }
  }
  std::sort(weights.begin(), weights.end());
  return weights;
}

TEST(SeparableOperand, HoldsTheFactorsThatAreSaidToBeRounded) {
  std::mt19937_64 random(8);
  std::uniform_real_distribution<double> weight(-0.3, 1.0);
  for (const Precision precision : {Precision::fp16, Precision::bf16, Precision::tf32, Precision::fp32}) {
    SeparableStencil stencil{{{-2, -7, -11}, {3, 8, 12}}, {}, 0.0};
    for (int k = 0; k < 3; ++k) {
      stencil.terms.emplace_back();
      for (int axis = 0; axis < axis_count; ++axis)
        for (std::int64_t i = 0; i < stencil.taps.extent()[axis]; ++i)
          stencil.terms[k].factor[axis].push_back(weight(random));
    }
    stencil.terms[2].factor[z_axis] = stencil.terms[0].factor[z_axis];  // shared, so that terms are reordered
    const SeparableOperand operand = separable_operand(stencil, precision);
    const SeparableStencil rounded = as_rounded(stencil, precision);
    ASSERT_EQ(rounded.terms.size(), 3u);
    for (int k = 0; k < operand.rank; ++k) {
      std::vector<double> x = rounded.terms[k].factor[x_axis], y = rounded.terms[k].factor[y_axis];
      for (double& value : y) value /= static_cast<double>(operand.scale);
      std::sort(x.begin(), x.end());
      std::sort(y.begin(), y.end());
      EXPECT_EQ(weights_of_row(operand, operand.x, operand.x_of[k]), x) << to_string(precision);
      EXPECT_EQ(weights_of_row(operand, operand.y, k), y) << to_string(precision);
      for (int tap = 0; tap < operand.z_taps; ++tap)
        EXPECT_EQ(static_cast<double>(operand.z_values[operand.z_of[k] * operand.z_taps + tap]),
                  rounded.terms[k].factor[z_axis][tap]);
    }
    // Together they must be the stencil, up to a few roundings of each of the 15 and 23 weights.
    const std::vector<double> found = dense_weights(rounded), wanted = dense_weights(stencil);
    double error = 0, total = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      error += std::abs(found[i] - wanted[i]), total += std::abs(wanted[i]);
    const double each = precision == Precision::fp32 ? 0x1p-22 * 23 : unit_roundoff(precision);
    EXPECT_LE(error, 6 * each * 3 * total) << to_string(precision);
    EXPECT_GT(error, 0);
  }
}

}  // namespace
}  // namespace spsolve
