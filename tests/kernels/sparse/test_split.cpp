// SPDX-License-Identifier: Apache-2.0
// These tests split numbers and operands into sums of terms of a shorter format, and check the errors of
// numbers and of products.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "kernels/sparse/morph.hpp"
#include "kernels/sparse/split.hpp"

namespace spsolve {
namespace {

TEST(Split, KeepsItsBound) {
  std::mt19937_64 random(20);
  for (const Precision element : {Precision::fp16, Precision::bf16, Precision::tf32})
    for (int terms = 1; terms <= 3; ++terms)
      for (int which = 0; which < 2000; ++which) {
        // In fp16, three terms fit above the subnormals if the number is large.
        const double value =
            std::ldexp(std::uniform_real_distribution<double>(0.5, 1.0)(random), 15) * (which % 2 ? 1 : -1);
        const auto parts = split_terms(value, element, terms);
        double rest = value;
        for (const double part : parts) rest -= part;
        const double subnormal = element == Precision::fp16 ? 0x1p-25 : 0;
        EXPECT_LE(std::abs(rest), std::max(split_error(element, terms) * std::abs(value), subnormal));
      }
}

TEST(Split, ProductsKeepTheirBound) {
  std::mt19937_64 random(21);
  std::uniform_real_distribution<double> value(1.0, 2.0);
  for (const Precision element : {Precision::fp16, Precision::bf16})
    for (int terms = 1; terms <= (element == Precision::fp16 ? 2 : 3); ++terms)
      for (int which = 0; which < 2000; ++which) {
        const double w = value(random), x = value(random);
        const auto ws = split_terms(w, element, terms), xs = split_terms(x, element, terms);
        double sum = 0;
        for (int i = 0; i < terms; ++i)
          for (int j = 0; i + j < terms; ++j) sum += ws[i] * xs[j];
        EXPECT_LE(std::abs(sum - w * x), split_product_error(element, terms) * w * x + 0x1p-50);
      }
}

TEST(Split, FirstTermsOfWeightsLieOnTheirGrid) {
  std::mt19937_64 random(22);
  std::uniform_real_distribution<double> any(-1.0, 1.0);
  for (const auto& [element, terms, significant] :
       {std::tuple{Precision::bf16, 3, 8}, {Precision::tf32, 2, 11}})
    for (int which = 0; which < 200; ++which) {
      std::vector<double> weights(1 + which);
      for (double& w : weights) w = any(random) * std::pow(10.0, -(which % 5) * std::abs(any(random)));
      double magnitude = 0;
      for (const double w : weights) magnitude += std::abs(w);
      const double grid = leading_grid(magnitude);
      // Sums of products with first terms of data in [1, 2), which are multiples of 2^(1 - significant), have
      // 24 bits.
      EXPECT_LE(2 * magnitude, 0x1p24 * grid * std::exp2(1 - significant));
      for (const double w : weights) {
        const auto parts = split_weight(w, element, terms, grid);
        ASSERT_EQ(parts.size(), static_cast<std::size_t>(terms));
        EXPECT_EQ(parts[0], std::round(parts[0] / grid) * grid);
        const double u = unit_roundoff(element), first = u * std::abs(w) + (1 + u) * grid / 2;
        double rest = w;
        for (const double part : parts) rest -= part;
        EXPECT_LE(std::abs(w - parts[0]), first);
        EXPECT_LE(std::abs(rest), split_error(element, terms - 1) * first);
        const double x = 1 + std::abs(any(random));
        const auto xs = split_terms(x, element, terms);
        double product = 0;
        for (int i = 0; i < terms; ++i)
          for (int j = 0; i + j < terms; ++j) product += parts[i] * xs[j];
        if (terms == 3) {
          EXPECT_LE(
              std::abs(product - w * x),
              (split_product_error(element, terms) * std::abs(w) + grid_product_error(element, grid)) * x);
        }
      }
    }
}

TEST(Split, ScalesOperandsIntoRange) {
  const Stencil stencil({1, 1, 3}, {1e-7, 3.0, -2e-3}, {0, 0, 1});
  const Operand operand = morph(stencil, {1, 1, 8}, Pairing::columns);
  for (const Precision element : {Precision::fp16, Precision::bf16}) {
    const SplitOperand split = split_operand(operand, element, 2);
    const double grid = leading_grid(split.scale * sum_abs(stencil));
    for (std::size_t at = 0; at < operand.values.size(); ++at) {
      const double sum = split.terms[0].values[at] + split.terms[1].values[at];
      const double subnormal = element == Precision::fp16 ? 0x1p-25 : 0;
      EXPECT_LE(std::abs(sum - operand.values[at] * split.scale),
                std::max(split_error(element, 1) *
                             (split_error(element, 1) * std::abs(operand.values[at]) * split.scale + grid),
                         subnormal));
      EXPECT_LT(std::abs(split.terms[0].values[at]), 0x1p15 * (1 + 0x1p-11));
    }
    EXPECT_EQ(split.terms[0].indices, split.terms[1].indices);
  }
}

}  // namespace
}  // namespace spsolve
