// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/accuracy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>

#include "kernels/rounding.hpp"
#include "kernels/sparse/round_weights.hpp"
#include "kernels/sparse/separable_operand.hpp"
#include "kernels/sparse/split.hpp"
#include "kernels/sparse/windowed_operand.hpp"

namespace spsolve {
namespace {

constexpr double truncation = 0x1p-23;  // relative truncation of a sum on tensor cores

double storage_error(Precision precision) {
  return precision == Precision::fp64                                   ? 0.0
         : precision == Precision::fp32 || precision == Precision::tf32 ? 0x1p-24
                                                                        : unit_roundoff(precision);
}

/// Returns gamma_n (Higham 2002, lemma 3.1): the error bound of n successive roundings.
double roundings(double count, double unit) { return count * unit / (1 - std::min(0.5, count * unit)); }

/// Returns the weights that instructions of direct layouts use (the sum of all operand terms) minus `fused`,
/// over the box of dense_weights().
std::vector<double> weight_difference(const Stencil& fused, Precision precision) {
  const std::vector<double> weights = dense_weights(fused);
  std::vector<double> rest = round_weights(weights, precision);
  for (std::size_t k = 0; k < rest.size(); ++k) rest[k] -= weights[k];
  return rest;
}

/// Holds the errors of one sweep from rounding data to operands, and from the additions.
struct PassError {
  double operands, accumulation;
};
PassError pass_error(const Stencil& fused, Precision precision) {
  const auto taps = static_cast<double>(fused.taps().size()), n = taps + 1;  // taps and the source
  switch (precision) {
    case Precision::fp64:
      return {0, roundings(n, 0x1p-53)};
    case Precision::fp32: {
      const auto [element, terms] = operand_terms(precision);
      const double grid = leading_grid(1.0) * std::numbers::sqrt2, u = unit_roundoff(element);
      // Only products of first terms are as large as the sum. The other five of six come from the remainders
      // of rounding to first terms.
      const double small = 2 * u + taps * grid / 2;
      return {split_product_error(element, terms) + taps * grid_product_error(element, grid),
              roundings(n * (1 + 6 * small), truncation)};
    }
    case Precision::tf32:
      return {unit_roundoff(precision) * (1 + unit_roundoff(precision)), roundings(n, truncation)};
    default:
      return {0, roundings(n, truncation)};
  }
}

/// Returns the weights that are used minus those of the stencil.
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

/// Returns |sum w e^(i angle . k)| of weights w[k] over a box.
double symbol_magnitude(const std::vector<double>& weights, const Box& taps,
                        const std::array<double, 3>& angle) {
  std::complex<double> sum;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const Index3 offset = taps.begin + point_of(static_cast<std::int64_t>(k), taps.extent());
    sum += weights[k] * std::polar(1.0, std::inner_product(angle.begin(), angle.end(), offset.begin(), 0.0));
  }
  return std::abs(sum);
}

/// Bounds the errors of a chained kernel. Every rounding acts on products whose magnitude is the product of
/// the sums of |factor| of a term, with factors as the operands hold them.
LaunchError separable_error(const Stencil& fused, Precision precision, double dropped) {
  const SeparableStencil exact = separate(fused, dropped);
  const SeparableStencil rounded = precision == Precision::fp64 ? exact : as_rounded(exact, precision);
  const double total = sum_abs(fused);
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
      // With two operand terms, products of the two smaller terms are left out, and so is what data lose
      // beyond two terms.
      constexpr double unit = 0x1p-11;
      if (axis != z_axis) read += unit * (sum_abs(smaller.terms[k].factor[axis]) / sum_abs(factor) + unit);
    }
    const bool rounds_data = precision == Precision::tf32;
    if (split)
      error.operands += magnitude * read * (1 + read);
    else if (precision != Precision::fp64)
      error.operands += magnitude * roundings(passes - !rounds_data, unit_roundoff(precision));
    // These are the sums of each pass, the sum of terms, and the source. An fp32 product is three products.
    error.accumulation += magnitude * roundings((split ? 3 : 1) * taps + passes + 2, truncation);
  }
  return error;
}

/// Estimates the errors of single steps in fp32 by the scalar unit, as mean squares.
struct SingleStepErrors {
  static constexpr double run = 1000;  // steps

  SingleStepErrors(const Stencil& stencil, int steps);

  std::vector<double> field;   // random data of any sign, after each step
  double launch = 0;           // error after `steps` steps
  double last = 0;             // error of the slowest-decaying wave after `run` steps
  std::array<double, 3> wave;  // the slowest-decaying wave
  double decay;                // its magnitude after `steps`
};

SingleStepErrors::SingleStepErrors(const Stencil& stencil, int steps)
    : field(static_cast<std::size_t>(steps) + 1, 0.0) {
  Index3 waves{16, 32, 512};
  for (int axis = 0; axis < axis_count; ++axis)
    if (stencil.radius()[axis] == 0) waves[axis] = 1;
  const auto exact = sampled_symbol(stencil, waves),
             rounded = sampled_symbol(rounded_to_fp32(stencil), waves);
  const auto count = static_cast<double>(exact.size());
  // In random data of any sign all waves have the same magnitude. Rounding errors of a step, made in a sum
  // that is on average half complete, are damped by later steps; errors of rounded weights add up.
  const double rounding = std::pow(0.39 * 0x1p-24, 2) * static_cast<double>(stencil.taps().size()) / 2;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    for (int k = 0; k <= steps; ++k)
      field[static_cast<std::size_t>(k)] += std::pow(std::norm(exact[i]), k) / count;
    launch += std::norm(std::pow(rounded[i], steps) - std::pow(exact[i], steps)) / count;
  }
  for (std::size_t k = 1; k < field.size(); ++k) launch += rounding * field[k] * field[field.size() - 1 - k];

  // The wave that decays slowest is what is left after a long run.
  const auto slowest =
      std::max_element(exact.begin(), exact.end(),
                       [](auto a, auto b) { return std::norm(a) < std::norm(b) * (1 - 1e-12); }) -
      exact.begin();
  const double largest = std::abs(exact[slowest]);
  wave = sampled_waves(waves)[static_cast<std::size_t>(slowest)];
  decay = std::pow(largest, steps);
  for (int k = 0; k < steps; ++k)
    last += rounding * field[static_cast<std::size_t>(k)] / std::pow(largest, 2 * k);
  last += std::pow(run * std::abs(rounded[slowest] / exact[slowest] - 1.0), 2);
}

/// Returns true if all points of a wave have the same magnitude. For other waves, sums of first terms are
/// truncated (leading_grid).
bool has_one_magnitude(const std::array<double, 3>& wave) {
  return std::all_of(wave.begin(), wave.end(), [](double angle) { return std::abs(std::sin(angle)) < 1e-9; });
}

/// Holds the errors of a sweep in fp32 on tensor cores, as mean squares: of a launch, and the part that later
/// launches damp.
struct SweepErrors {
  double launch, roundings;
  double drift;                 // rounding error that all points share, which later launches do not damp
  std::vector<double> weights;  // used weights minus w^t, over `taps`
  Box taps;
};

SweepErrors direct_errors(const Stencil& fused, const SingleStepErrors& single) {
  constexpr double products = 0x1p-24;  // relative error of the products of three terms each
  // A sum takes about one chain of instructions per row of taps, whose results are added in fp32. Where data
  // are nearly constant, all points round alike. Up to sixteen such additions seldom change the last bit of
  // the result; sixty do so in every launch (jacobi2d in tests/solver/test_promise.cpp).
  const Box taps{Index3{} - fused.radius(), fused.radius() + Index3{1, 1, 1}};
  const Index3 extent = taps.extent();
  const std::int64_t instructions = extent[z_axis] * extent[y_axis] * ceil_div(extent[x_axis] + 15, 32);
  const double drift = 0x1p-24 * std::max(0.0, static_cast<double>(instructions - 16) / 46);
  return {products * products * single.field.back(), products * products, drift,
          weight_difference(fused, Precision::fp32), taps};
}

/// Returns true if a sweep of a plane in fp32 may use pairs of fp16 as operands (windowed_pair()).
bool may_have_pairs(const Stencil& fused, Layout layout) {
  return layout == Layout::strided_swap && supports_window(fused, Precision::fp32);
}

/// Returns the sums of paired weights minus `fused`, over the box of dense_weights().
std::vector<double> pair_difference(const Stencil& fused, const PairedWeights& pair) {
  std::vector<double> rest = dense_weights(fused);
  for (std::size_t k = 0; k < rest.size(); ++k)
    rest[k] = (pair.first[k] + pair.second[k]) / pair.scale - rest[k];
  return rest;
}

/// Returns the errors with pairs of fp16. Two terms of fp16 lose the last bit of a quarter of all data, and
/// the products of both second terms are left out.
SweepErrors pair_errors(const Stencil& fused, const SingleStepErrors& single) {
  constexpr double data = 0.7 * 0x1p-24, smaller_data = 0x1p-12 * 0.76;
  const PairedWeights pair = paired_weights(fused);
  SweepErrors errors = direct_errors(fused, single);
  errors.weights = pair_difference(fused, pair);
  errors.launch += data * data * single.field.back() + sum_of_squares(errors.weights) +
                   std::pow(smaller_data / pair.scale, 2) * sum_of_squares(pair.second);
  errors.roundings += data * data;
  return errors;
}

/// Returns the errors of separable sweeps: one rounding per pass, and for terms of tf32 the products of the
/// smaller terms, which are left out. Smaller terms of data are 2^-12.4 of the data.
SweepErrors separable_errors(const Stencil& fused, double dropped, const SingleStepErrors& single) {
  constexpr double smaller_data = 0x1p-12 * 0.76, pass = 0.8 * 0x1p-24;
  const SeparableStencil terms = separate(fused, dropped), used = as_rounded(terms, Precision::fp32),
                         smaller = as_rounded(terms, Precision::fp32, 1);
  SweepErrors errors{0, 0, 0, difference(used, fused), used.taps};
  errors.launch = sum_of_squares(errors.weights);
  for (int axis = 0; axis < axis_count; ++axis) {
    if (fused.radius()[axis] == 0) continue;
    errors.launch += pass * pass * single.field.back();
    errors.roundings += pass * pass;
    for (std::size_t k = 0; k < used.terms.size() && axis != z_axis; ++k) {
      double product = smaller_data * smaller_data;
      for (int other = 0; other < axis_count; ++other)
        product *= sum_of_squares((other == axis ? smaller : used).terms[k].factor[other]);
      errors.launch += product;
    }
  }
  return errors;
}

}  // namespace

LaunchError scalar_error(const Stencil& stencil, int steps, Precision precision) {
  // In every step the weights are rounded to the precision of sums, each tap is rounded once, and tf32 rounds
  // operands. Each following step amplifies an error by at most sum |w|.
  const double sums = precision == Precision::fp64 ? 0x1p-53 : 0x1p-24;
  // sum |w^t| is at least |symbol|^t of any wave, for example of waves of up to 8 points. The symbol may be
  // zero.
  constexpr double useless = 1e30;  // larger bounds say nothing
  const double growth =
      std::min(useless, std::pow(sum_abs(stencil) / growth_factor(stencil, Index3{8, 8, 8}), steps));
  const bool rounds = precision == Precision::tf32;
  const double operands = rounds ? roundings(steps, unit_roundoff(precision)) : 0.0;
  const double changed = rounds ? sum_abs(weight_difference(stencil, precision)) / sum_abs(stencil) : 0.0;
  const double weights = precision == Precision::fp64 ? 0.0 : roundings(steps, sums + changed);
  return {storage_error(precision), growth * weights, growth * operands,
          growth * roundings(steps * static_cast<double>(stencil.taps().size() + 1), sums)};
}

ErrorOverScalar fp32_error_over_scalar(const Stencil& stencil, int steps, Layout layout, double dropped) {
  const Stencil fused = fuse_steps(stencil, steps);
  const SingleStepErrors single(stencil, steps);
  // Rounding errors are damped unless all points round alike. Errors of the weights in the slowest-decaying
  // wave add up from launch to launch.
  const double cut_off = has_one_magnitude(single.wave) ? 0 : 0x1p-25;
  const auto over_scalar = [&](const SweepErrors& sweep) {
    const double drift =
        single.run / steps *
        (symbol_magnitude(sweep.weights, sweep.taps, single.wave) / single.decay + sweep.drift + cut_off);
    return ErrorOverScalar{std::sqrt(sweep.launch / single.launch),
                           std::sqrt((sweep.roundings + drift * drift) / single.last)};
  };
  if (layout == Layout::separable) return over_scalar(separable_errors(fused, dropped, single));
  const ErrorOverScalar direct = over_scalar(direct_errors(fused, single));
  if (!may_have_pairs(fused, layout)) return direct;
  const ErrorOverScalar pairs = over_scalar(pair_errors(fused, single));
  return {std::max(direct.launch, pairs.launch), std::max(direct.run, pairs.run)};
}

LaunchError sweep_error(const Stencil& fused, Precision precision, Layout layout, double dropped) {
  if (layout == Layout::separable) return separable_error(fused, precision, dropped);
  const PassError pass = pass_error(fused, precision);
  LaunchError error{storage_error(precision), sum_abs(weight_difference(fused, precision)) / sum_abs(fused),
                    pass.operands, pass.accumulation};
  if (precision == Precision::fp32 && may_have_pairs(fused, layout)) {
    const PairedWeights pair = paired_weights(fused);
    error.weights = std::max(error.weights, sum_abs(pair_difference(fused, pair)) / sum_abs(fused));
    error.operands = std::max(error.operands, split_error(Precision::fp16, 2) +
                                                  unit_roundoff(Precision::fp16) * sum_abs(pair.second) /
                                                      (pair.scale * sum_abs(fused)));
  }
  return error;
}

}  // namespace spsolve
