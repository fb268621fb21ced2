// SPDX-License-Identifier: Apache-2.0
// Numbers and operands as sums of terms of a shorter format: what is left, and what of products.
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
        // fp16: three terms fit above its subnormals when the number is large.
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

TEST(Split, MixedProductsKeepTheirBound) {
  std::mt19937_64 random(22);
  std::uniform_real_distribution<double> value(1.0, 2.0);
  const auto rounded = [](double number, Precision element) {
    return split_terms(number, element, 1).front();
  };
  for (int which = 0; which < 20000; ++which) {
    const double w = value(random), x = value(random);
    const double leading_w = rounded(w, Precision::tf32), leading_x = rounded(x, Precision::tf32);
    for (const double in_bf16 : {rounded(w, Precision::bf16), rounded(leading_w, Precision::bf16)}) {
      const double sum = leading_w * leading_x + in_bf16 * rounded(x - leading_x, Precision::bf16) +
                         rounded(w - leading_w, Precision::bf16) * rounded(x, Precision::bf16);
      EXPECT_LE(std::abs(sum - w * x), mixed_split_product_error() * w * x);
    }
  }
}

TEST(Split, ScalesOperandsIntoRange) {
  const Stencil stencil({1, 1, 3}, {1e-7, 3.0, -2e-3}, {0, 0, 1});
  const Operand operand = morph(stencil, {1, 1, 8}, Pairing::columns);
  for (const Precision element : {Precision::fp16, Precision::bf16}) {
    const SplitOperand split = split_operand(operand, element, 2);
    for (std::size_t at = 0; at < operand.values.size(); ++at) {
      const double sum = split.terms[0].values[at] + split.terms[1].values[at];
      const double subnormal = element == Precision::fp16 ? 0x1p-25 : 0;
      EXPECT_LE(std::abs(sum - operand.values[at] * split.scale),
                std::max(split_error(element, 2) * std::abs(operand.values[at]) * split.scale, subnormal));
      EXPECT_LT(std::abs(split.terms[0].values[at]), 0x1p15 * (1 + 0x1p-11));
    }
    EXPECT_EQ(split.terms[0].indices, split.terms[1].indices);
  }
}

}  // namespace
}  // namespace spsolve
