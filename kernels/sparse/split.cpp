// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/split.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/sparse/element_bits.hpp"

namespace spsolve {

std::uint32_t extract_term(double& rest, Precision element) {
  const std::uint32_t bits = element_bits(element, rest);
  rest -= element_value(element, bits);  // exact, because the remainder of rounding has fewer bits than the
                                         // number
  return bits;
}

std::vector<double> split_terms(double value, Precision element, int terms) {
  std::vector<double> parts;
  for (int term = 0; term < terms; ++term)
    parts.push_back(element_value(element, extract_term(value, element)));
  return parts;
}

double split_error(Precision element, int terms) { return std::pow(unit_roundoff(element), terms); }

double split_product_error(Precision element, int terms) {
  // w = sum w_i + tail with |w_i| <= u^i (1 + u) |w|. Of all products w_i x_j, those with i + j >= terms are
  // dropped.
  const double u = unit_roundoff(element);
  double error = 2 * std::pow(u, terms) + std::pow(u, 2 * terms);
  for (int i = 0; i < terms; ++i)
    for (int j = terms - i; j < terms; ++j) error += std::pow(u, i + j) * (1 + u) * (1 + u);
  return error;
}

double leading_grid(double magnitude) { return std::exp2(std::round(std::log2(magnitude)) - 12); }

std::vector<double> split_weight(double weight, Precision element, int terms, double grid) {
  std::vector<double> parts = split_terms(terms > 1 ? std::round(weight / grid) * grid : weight, element, 1);
  const std::vector<double> others = split_terms(weight - parts.front(), element, terms - 1);
  parts.insert(parts.end(), others.begin(), others.end());
  return parts;
}

double grid_product_error(Precision element, double grid) {
  const double u = unit_roundoff(element);
  return 3 * u * u * (1 + u) * grid / 2;
}

OperandTerms operand_terms(Precision precision) {
  return precision == Precision::fp32 ? OperandTerms{Precision::bf16, 3} : OperandTerms{precision, 1};
}

double power_of_two_scale(double largest) {
  int exponent = 0;
  std::frexp(largest, &exponent);  // largest = m 2^exponent with m in [1/2, 1)
  return std::ldexp(1.0, 15 - exponent);
}

double weight_scale(const Stencil& stencil, Precision element) {
  if (element != Precision::fp16) return 1.0;
  double largest = 0;
  for (const Tap& tap : stencil.taps()) largest = std::max(largest, std::abs(tap.weight));
  return power_of_two_scale(largest);
}

SplitOperand split_operand(const Operand& operand, Precision element, int terms) {
  double magnitude = 0;
  for (std::size_t at = 0; at < operand.compressed_columns(); ++at)  // all rows have the same weights
    magnitude += std::abs(operand.values[at]);
  return split_operand(operand, element, terms, magnitude);
}

SplitOperand split_operand(const Operand& operand, Precision element, int terms, double magnitude) {
  double largest = 0;
  for (const double value : operand.values) largest = std::max(largest, std::abs(value));
  SplitOperand split{std::vector<Operand>(terms, operand),
                     element == Precision::fp16 ? power_of_two_scale(largest) : 1.0};
  const double grid = leading_grid(magnitude * split.scale);
  for (std::size_t at = 0; at < operand.values.size(); ++at) {
    const auto parts = split_weight(operand.values[at] * split.scale, element, terms, grid);
    for (int term = 0; term < terms; ++term) split.terms[term].values[at] = parts[term];
  }
  return split;
}

}  // namespace spsolve
