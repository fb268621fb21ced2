// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/accuracy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <numeric>

#include "kernels/sparse/emulated_sweep.hpp"
#include "kernels/sparse/round_weights.hpp"
#include "kernels/sparse/separable_operand.hpp"
#include "kernels/sparse/split.hpp"

namespace spsolve {
namespace {

constexpr double truncation = 0x1p-23;  // of a sum on tensor cores

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

/// The weights that instructions of direct layouts get, all terms together, over the box of dense_weights().
std::vector<double> operand_weights(const Stencil& fused, Precision precision) {
  std::vector<double> weights = dense_weights(fused);
  if (precision != Precision::fp32) return round_weights(std::move(weights), precision);
  if (takes_mixed_split(fused.taps().size())) return round_mixed_weights(std::move(weights));
  for (double& weight : weights) {
    const auto terms = split_terms(weight, Precision::bf16, fp32_terms);
    weight = std::accumulate(terms.begin(), terms.end(), 0.0);
  }
  return weights;
}

/// One sum of `taps` products: of the operands as they are read, and of the additions.
struct PassError {
  double operands, accumulation;
};
PassError pass_error(std::size_t taps, Precision precision) {
  const auto n = static_cast<double>(taps + 1);  // and the source
  switch (precision) {
    case Precision::fp64:
      return {0, roundings(n, 0x1p-53)};
    case Precision::fp32: {
      if (takes_mixed_split(taps)) return {mixed_split_product_error(), roundings(3 * n, truncation)};
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

/// What the weights that are used differ from a stencil's.
std::vector<double> difference(const SeparableStencil& used, const Stencil& stencil) {
  std::vector<double> rest = dense_weights(used);
  const Index3 extent = used.taps.extent();
  for (const Tap& tap : stencil.taps())
    rest[static_cast<std::size_t>(index_of(tap.offset - used.taps.begin, extent))] -= tap.weight;
  return rest;
}

double sum_of_squares(const std::vector<double>& values) {
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

Stencil rounded_to_fp32(const Stencil& stencil) {
  const Index3 radius = stencil.radius();
  std::vector<double> weights = dense_weights(stencil);
  for (double& weight : weights) weight = static_cast<float>(weight);
  return {2 * radius + Index3{1, 1, 1}, weights, radius};
}

/// |sum w e^(i angle . k)| of weights w[k] over a box.
double symbol_magnitude(const std::vector<double>& weights, const Box& taps,
                        const std::array<double, 3>& angle) {
  std::complex<double> sum;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const Index3 offset = taps.begin + point_of(static_cast<std::int64_t>(k), taps.extent());
    sum += weights[k] * std::polar(1.0, std::inner_product(angle.begin(), angle.end(), offset.begin(), 0.0));
  }
  return std::abs(sum);
}

/// Every rounding of a chained kernel acts on products of magnitude sum |a| sum |b| of a term, with the
/// factors that operands hold.
LaunchError separable_error(const Stencil& fused, Precision precision, double dropped) {
  const SeparableStencil exact = separate(fused, dropped);
  const SeparableStencil rounded = precision == Precision::fp64 ? exact : as_rounded(exact, precision);
  const double total = norm(fused);
  LaunchError error{storage_error(precision), sum_abs(difference(rounded, fused)) / total};
  const bool split = precision == Precision::fp32;
  const SeparableStencil smaller = split ? as_rounded(exact, precision, 1) : rounded;
  for (std::size_t k = 0; k < rounded.terms.size(); ++k) {
    double magnitude = 1 / total, passes = 0, taps = 0, read = 0;
    for (int axis = 0; axis < axis_count; ++axis) {
      const std::vector<double>& factor = rounded.terms[k].factor[axis];
      magnitude *= sum_abs(factor);
      if (factor.size() == 1 && axis != x_axis) continue;
      ++passes;
      taps += static_cast<double>(factor.size());
      // Of two terms of data and weights the smaller ones are not multiplied, and what data have left over.
      constexpr double unit = 0x1p-11;
      if (axis != z_axis) read += unit * (sum_abs(smaller.terms[k].factor[axis]) / sum_abs(factor) + unit);
    }
    const bool rounds_data = precision == Precision::tf32;
    if (split)
      error.operands += magnitude * read * (1 + read);
    else if (precision != Precision::fp64)
      error.operands += magnitude * roundings(passes - !rounds_data, unit_roundoff(precision));
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
  // sum |w^t| is at least |symbol|^t of any wave, such as those of 8 points and less; it may be zero, too.
  constexpr double useless = 1e30;  // as a bound
  const double growth = std::min(useless, std::pow(norm(stencil) / growth_factor(stencil, {8, 8, 8}), steps));
  const double operands = precision == Precision::tf32 ? roundings(steps, unit_roundoff(precision)) : 0.0;
  const double weights = precision == Precision::fp64 ? 0.0 : std::max(roundings(steps, sums), operands);
  return {storage_error(precision), growth * weights, growth * operands,
          growth * roundings(steps * static_cast<double>(stencil.taps().size() + 1), sums)};
}

ErrorOverScalar fp32_error_over_scalar(const Stencil& stencil, int steps, Layout layout, double dropped) {
  const Stencil fused = fuse_steps(stencil, steps);
  // Long sums of mixed products (kernels/sparse/split.hpp) round alike in every launch: in emulation up to
  // 118 times as much as single steps in 240.
  constexpr double unknown = std::numeric_limits<double>::infinity();
  if (layout != Layout::separable && takes_mixed_split(fused.taps().size())) return {unknown, unknown};

  // A rounding, of a sum that on average is half complete.
  const double rounding = 0.39 * 0x1p-24 * std::sqrt(static_cast<double>(stencil.taps().size()) / 2);
  const Index3 radius = stencil.radius();
  Index3 waves{16, 32, 512};
  for (int axis = 0; axis < axis_count; ++axis)
    if (radius[axis] == 0) waves[axis] = 1;
  const auto exact = sampled_symbol(stencil, waves),
             rounded = sampled_symbol(rounded_to_fp32(stencil), waves);
  const auto count = static_cast<double>(exact.size());
  // Of data of any sign all waves are alike: mean squares of the field after each step, and of what weights
  // that are rounded do to it.
  std::vector<double> field(static_cast<std::size_t>(steps) + 1, 0.0);
  double weights = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    for (int k = 0; k <= steps; ++k)
      field[static_cast<std::size_t>(k)] += std::pow(std::norm(exact[i]), k) / count;
    weights += std::norm(std::pow(rounded[i], steps) - std::pow(exact[i], steps)) / count;
  }
  double sums = 0;  // what a step adds, later ones damp
  for (std::size_t k = 1; k < field.size(); ++k)
    sums += rounding * rounding * field[k] * field[field.size() - 1 - k];

  // The wave that decays least is what is left of a long run: roundings are damped like the others, what a
  // step does to it in every launch adds up.
  constexpr double run = 1000;  // steps
  const auto last =
      std::max_element(exact.begin(), exact.end(),
                       [](auto a, auto b) { return std::norm(a) < std::norm(b) * (1 - 1e-12); }) -
      exact.begin();
  const std::array<double, 3> wave = sampled_waves(waves)[static_cast<std::size_t>(last)];
  const double largest = std::abs(exact[last]), of_launch = std::pow(largest, steps);
  const double lasting = run * std::abs(rounded[last] / exact[last] - 1.0);
  double damped = 0;
  for (int k = 0; k < steps; ++k)
    damped += rounding * rounding * field[static_cast<std::size_t>(k)] / std::pow(largest, 2 * k);
  const auto over_run = [&](double squares, double of_wave) {
    return std::sqrt((squares + std::pow(run / steps * of_wave, 2)) / (damped + lasting * lasting));
  };

  if (layout != Layout::separable) {
    constexpr double products = 0x1p-24;  // of three terms each, of the result
    const std::vector<double> weight = dense_weights(fused);
    std::vector<double> changed = operand_weights(fused, Precision::fp32);
    for (std::size_t k = 0; k < weight.size(); ++k) changed[k] -= weight[k];
    const Box taps{Index3{} - fused.radius(), fused.radius() + Index3{1, 1, 1}};
    return {products * std::sqrt(field.back() / (weights + sums)),
            over_run(products * products, symbol_magnitude(changed, taps, wave) / of_launch)};
  }
  // A separable sweep: weights as they are used; in each pass a rounding, and of the terms of tf32 the
  // products of the smaller ones, which are left out. Those of data are 2^-12.4 of them.
  constexpr double smaller_data = 0x1p-12 * 0.76, pass = 0.8 * 0x1p-24;
  const SeparableStencil terms = separate(fused, dropped), used = as_rounded(terms, Precision::fp32),
                         smaller = as_rounded(terms, Precision::fp32, 1);
  const std::vector<double> changed = difference(used, fused);
  double errors = sum_of_squares(changed), passes = 0;
  for (int axis = 0; axis < axis_count; ++axis) {
    if (radius[axis] == 0) continue;
    errors += pass * pass * field.back();
    passes += pass * pass;
    for (std::size_t k = 0; k < used.terms.size() && axis != z_axis; ++k) {
      double product = smaller_data * smaller_data;
      for (int other = 0; other < axis_count; ++other)
        product *= sum_of_squares((other == axis ? smaller : used).terms[k].factor[other]);
      errors += product;
    }
  }
  return {std::sqrt(errors / (weights + sums)),
          over_run(passes, symbol_magnitude(changed, used.taps, wave) / of_launch)};
}

LaunchError sweep_error(const Stencil& fused, Precision precision, Layout layout, double dropped) {
  if (layout == Layout::separable) return separable_error(fused, precision, dropped);
  const std::vector<double> weights = dense_weights(fused);
  std::vector<double> rest = operand_weights(fused, precision);
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= weights[i];
  const PassError pass = pass_error(fused.taps().size(), precision);
  return {storage_error(precision), sum_abs(rest) / norm(fused), pass.operands, pass.accumulation};
}

}  // namespace spsolve
