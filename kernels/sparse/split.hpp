// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/precision.hpp"
#include "kernels/sparse/operand.hpp"

namespace spsolve {

/// Takes the rounding of `rest` to a format off it, exactly, and returns its bits.
std::uint32_t take_term(double& rest, Precision element);

/// value as a sum of `terms` numbers of a format, each the rounding of what those before leave over.
/// |value - sum| <= split_error(element, terms) |value| as long as no term leaves the range of the format;
/// for fp16 that needs scaling: see power_of_two_scale.
std::vector<double> split_terms(double value, Precision element, int terms);

/// Relative error of a sum of terms: u^terms with the unit roundoff u of the format.
double split_error(Precision element, int terms);

/// Relative error |w x - computed| / |w x| of one product from the terms i of w and j of x with i + j <
/// terms, before accumulation: both tails and the dropped products, (terms + 1) u^terms to first order in u.
double split_product_error(Precision element, int terms);

/// Relative error |w x - computed| / |w x| of a product of fp32 numbers as tf32(w) tf32(x) + bf16(w) bf16(x -
/// tf32(x)) + bf16(w - tf32(w)) bf16(x), before accumulation; bf16(w) may be the rounding of tf32(w). Takes
/// 2 + 1 + 1 units of time of a bf16 product, where three terms of bf16 take 6, and has the range of fp32.
double mixed_split_product_error();

/// Whether a sum of so many products of fp32 numbers is made in that way: where plain fp32 arithmetic rounds
/// by as much. For random data of any sign these products are off by 9.3 u of the sum in the root mean
/// square, u = 2^-24, a chain of n fused multiply-adds by 0.39 sqrt(n / 2) u: 4 times that is more from n =
/// 71 on, for every sample of random weights from 80.
bool takes_mixed_split(std::size_t taps);

/// What a number of a field becomes as an operand: the sum of `count` terms of a format, or of tf32 and bf16
/// (mixed_split_product_error).
struct OperandTerms {
  Precision element;
  int count;
  bool mixed = false;
};
/// fp32: terms of bf16, which have its range, mixed where takes_mixed_split. Others: themselves.
constexpr int fp32_terms = 3;
OperandTerms operand_terms(Precision precision, std::size_t taps);

/// The power of two that brings `largest` (> 0) just below 2^15, inside the fp16 range. An fp16 term then
/// rounds to 2^-25 at the least, 2^-39 of `largest`: what is lost below is less than an fp32 rounding of the
/// largest number.
double power_of_two_scale(double largest);
/// That of the largest weight for operands of fp16, so that small ones keep their bits; 1 for other formats.
double weight_scale(const Stencil& stencil, Precision element);

/// Weights split into terms: their sum is scale * weights within split_error; scale is a power of two, 1 but
/// for fp16. All terms have the same places, so one metadata serves them all.
struct SplitOperand {
  std::vector<Operand> terms;
  double scale;
};
SplitOperand split_operand(const Operand& operand, Precision element, int terms);

}  // namespace spsolve
