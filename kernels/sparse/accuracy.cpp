// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/sparse/emulated_sweep.hpp"
#include "kernels/sparse/round_weights.hpp"
#include "kernels/sparse/separable.hpp"
#include "kernels/sparse/split.hpp"
#include "kernels/sparse/windowed_operand.hpp"

namespace spsolve {
namespace {

constexpr double truncation = 0x1p-23;  // of a sum on tensor cores
constexpr int fp32_terms = 3;           // of bf16: kernels/sparse/sparse_sweep.hpp

double norm(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::abs(value);
  return sum;
}

double norm(const Stencil& stencil) {
  double sum = 0;
  for (const Tap& tap : stencil.taps()) sum += std::abs(tap.weight);
  return sum;
}

double storage_error(Precision precision) {
  return precision == Precision::fp64                                   ? 0.0
         : precision == Precision::fp32 || precision == Precision::tf32 ? 0x1p-24
                                                                        : unit_roundoff(precision);
}

/// gamma_n (Higham 2002, lemma 3.1): n roundings one after the other.
double roundings(double count, double unit) { return count * unit / (1 - std::min(0.5, count * unit)); }

/// The weights that instructions get: all terms of the operand format together.
std::vector<double> operand_weights(const std::vector<double>& weights, Precision precision) {
  if (precision != Precision::fp32) return round_weights(weights, precision);
  std::vector<double> rounded;
  for (const double weight : weights) {
    const auto terms = split_terms(weight, Precision::bf16, fp32_terms);
    rounded.push_back(std::accumulate(terms.begin(), terms.end(), 0.0));
  }
  return rounded;
}

/// One sum of `taps` products: of the operands as they are read, and of the additions.
struct PassError {
  double operands, accumulation;
};
PassError pass_error(std::size_t taps, Precision precision) {
  const auto n = static_cast<double>(taps);
  switch (precision) {
    case Precision::fp64:
      return {0, roundings(n, 0x1p-53)};
    case Precision::fp32: {
      // The products of the first terms come last, and only they are as large as the sum; the other five of
      // six are at most 2^-7 of it, three times over.
      constexpr double small = 3 * 0x1p-7;
      return {split_product_error(Precision::bf16, fp32_terms), roundings(n * (1 + 6 * small), truncation)};
    }
    case Precision::tf32:
      return {unit_roundoff(precision) * (1 + unit_roundoff(precision)), roundings(n, truncation)};
    default:
      return {0, roundings(n, truncation)};
  }
}

/// Every rounding of a chained kernel acts on products of magnitude sum |a| sum |b| of a term. Rounding that
/// keeps sums moves weights twice: to nearest, and to make up for it. fp32 operands are two tf32 terms there.
LaunchError separable_error(const Stencil& fused, Precision precision, double dropped) {
  const SeparableStencil separable = separate(fused, dropped);
  const bool split = precision == Precision::fp32;
  const double operand = precision == Precision::fp64 ? 0.0
                         : split                      ? split_error(Precision::tf32, 2)
                                                      : unit_roundoff(precision);
  const double total = norm(fused);
  LaunchError error{storage_error(precision), separable.dropped};
  for (const SeparableTerm& term : separable.terms) {
    double magnitude = 1 / total, passes = 0, taps = 0;
    for (const auto& factor : term.factor) {
      magnitude *= norm(factor);
      if (factor.size() == 1) continue;
      ++passes;
      taps += static_cast<double>(factor.size());
    }
    passes = std::max(passes, 1.0);
    const double read = split ? split_product_error(Precision::tf32, 2) : 0.0;
    const bool rounds_data = precision == Precision::tf32;
    error.weights += magnitude * roundings(2 * passes + 1, operand);
    error.operands +=
        magnitude * (roundings(passes - (rounds_data ? 0 : 1), operand) + roundings(passes, read));
    // Sums of each pass, of terms, and the source; fp32 products are three for one.
    error.accumulation += magnitude * roundings((split ? 3 : 1) * taps + passes + 2, truncation);
  }
  return error;
}

}  // namespace

LaunchError scalar_error(const Stencil& stencil, int steps, Precision precision) {
  // Every step: the weights rounded to the precision of sums, one rounding per tap, and for tf32 those of
  // operands. What a step adds grows by at most sum |w| in each of the following ones.
  const double sums = precision == Precision::fp64 ? 0x1p-53 : 0x1p-24;
  // sum |w^t| is at least |symbol|^t of any wave, such as those of 8 points and less.
  const double growth = std::pow(norm(stencil) / growth_factor(stencil, {8, 8, 8}), steps);
  const double operands = precision == Precision::tf32 ? roundings(steps, unit_roundoff(precision)) : 0.0;
  const double weights = precision == Precision::fp64 ? 0.0 : std::max(roundings(steps, sums), operands);
  return {storage_error(precision), growth * weights, growth * operands,
          growth * roundings(steps * static_cast<double>(stencil.taps().size() + 1), sums)};
}

LaunchError sweep_error(const Stencil& fused, Precision precision, Layout layout, double dropped) {
  if (layout == Layout::separable) return separable_error(fused, precision, dropped);
  std::vector<double> weights;
  for (const Tap& tap : fused.taps()) weights.push_back(tap.weight);
  std::vector<double> rest = operand_weights(weights, precision);
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= weights[i];
  PassError pass = pass_error(weights.size() + 1, precision);  // and the source
  if (precision == Precision::fp32 && layout == Layout::strided_swap && takes_window(fused, precision))
    pass.operands = std::max(pass.operands, mixed_split_product_error());
  return {storage_error(precision), norm(rest) / norm(fused), pass.operands, pass.accumulation};
}

}  // namespace spsolve
