// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/precision.hpp"
#include "kernels/sparse/operand.hpp"

namespace spsolve {

/// Subtracts from `rest` its rounding to a format, exactly, and returns the bits of the rounded number.
std::uint32_t extract_term(double& rest, Precision element);

/// Splits a value into `terms` numbers of a format, each the rounding of the remainder of those before.
/// |value - sum| <= split_error(element, terms) |value| as long as no term leaves the range of the format.
/// fp16 needs scaling for that: see power_of_two_scale().
std::vector<double> split_terms(double value, Precision element, int terms);

/// Returns the relative error of a sum of terms: u^terms, where u is the unit roundoff of the format.
double split_error(Precision element, int terms);

/// Returns the relative error |w x - computed| / |w x| of one product of the terms i of w and j of x with i +
/// j < terms, before accumulation: both tails and the dropped products, (terms + 1) u^terms to first order in
/// u.
double split_product_error(Precision element, int terms);

/// Returns the grid of first terms, for weights split into several terms whose magnitudes sum to `magnitude`:
/// the power of two nearest to 2^-12 of `magnitude`. Products with first terms of data of 8 bits (bf16) or 11
/// bits (tf32) then sum to 20 or 23 bits, or to 24 where data differ, which tensor cores add without loss.
/// Tensor cores truncate longer sums, always towards zero, which makes fields of one sign drift.
double leading_grid(double magnitude);

/// Splits a weight like split_terms(), with the first term on a grid.
std::vector<double> split_weight(double weight, Precision element, int terms, double grid);

/// Returns the additional error of one product due to the grid, as a multiple of |x|. The first term of w may
/// be off by half a spacing, and in products with that remainder two terms of x are dropped.
double grid_product_error(Precision element, double grid);

/// Describes the form of a field value as an operand: a sum of `count` terms of a format.
struct OperandTerms {
  Precision element;
  int count;
};
/// Returns three terms of bf16, which has the range of fp32, for fp32. Other precisions are their own format.
OperandTerms operand_terms(Precision precision);

/// Returns the power of two that brings `largest` (> 0) just below 2^15, inside the range of fp16. An fp16
/// term then has an absolute error of 2^-25 at most, which is 2^-39 of `largest`: less than an fp32 rounding
/// of the largest number.
double power_of_two_scale(double largest);
/// Returns power_of_two_scale() of the largest weight for operands of fp16, so that small weights keep their
/// bits; 1 for other formats.
double weight_scale(const Stencil& stencil, Precision element);

/// Holds weights split into terms; with several terms the first is on the leading_grid. The sum of terms[i] /
/// term_scale^i is scale * weights, to within split_error of the weight and of half a grid spacing. `scale`
/// is a power of two, and 1 except for fp16. `term_scale` is a power of two as well; terms of data are
/// multiplied by its powers, too. All terms have the same places, so one set of metadata serves them all.
struct SplitOperand {
  std::vector<Operand> terms;
  double scale, term_scale = 1.0;
};
SplitOperand split_operand(const Operand& operand, Precision element, int terms);
/// Splits on the leading_grid of weights whose magnitudes sum to `magnitude`.
SplitOperand split_operand(const Operand& operand, Precision element, int terms, double magnitude);

}  // namespace spsolve
