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

/// The first of several terms of weights whose magnitudes sum to `magnitude` are multiples of this power of
/// two, 2^-12 of it: their products with first terms of data, of 8 (bf16) or 11 bits (tf32), then sum to 20
/// or 23 bits, or to 24 where data differ, which tensor cores do without loss. Other sums they cut off,
/// always towards zero, which makes fields of one sign drift.
double leading_grid(double magnitude);

/// split_terms with a first term on such a grid.
std::vector<double> split_weight(double weight, Precision element, int terms, double grid);

/// What the grid adds to the error of one product, as a multiple of |x|: two terms of x are left out of the
/// products with half a spacing that the first term of w is off.
double grid_product_error(Precision element, double grid);

/// What a number of a field becomes as an operand: the sum of `count` terms of a format.
struct OperandTerms {
  Precision element;
  int count;
};
/// fp32: three terms of bf16, which has its range. Others: themselves.
OperandTerms operand_terms(Precision precision);

/// The power of two that brings `largest` (> 0) just below 2^15, inside the fp16 range. An fp16 term then
/// rounds to 2^-25 at the least, 2^-39 of `largest`: what is lost below is less than an fp32 rounding of the
/// largest number.
double power_of_two_scale(double largest);
/// That of the largest weight for operands of fp16, so that small ones keep their bits; 1 for other formats.
double weight_scale(const Stencil& stencil, Precision element);

/// Weights split into terms, several with leading_grid: the sum of terms[i] / term_scale^i is scale *
/// weights within split_error of the weight and, of the grid, of half a spacing; scale is a power of two, 1
/// but for fp16. So is term_scale; terms of data are multiplied by its powers, too. All terms have the same
/// places, so one metadata serves them all.
struct SplitOperand {
  std::vector<Operand> terms;
  double scale, term_scale = 1.0;
};
SplitOperand split_operand(const Operand& operand, Precision element, int terms);
/// The same on the leading_grid of weights whose magnitudes sum to that.
SplitOperand split_operand(const Operand& operand, Precision element, int terms, double magnitude);

}  // namespace spsolve
