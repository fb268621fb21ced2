// SPDX-License-Identifier: Apache-2.0
#include "solver/plan/stride_error.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "kernels/sampling.hpp"
#include "kernels/sparse/accuracy.hpp"
#include "kernels/strides/stride_weights.hpp"

namespace spsolve {
namespace {

/// Returns the rounding of sums and of stored numbers.
double rounding_of_sums(Precision precision) { return precision == Precision::fp64 ? 0x1p-53 : 0x1p-24; }
double rounding_of_storage(Precision precision) { return unit_roundoff(format_of(precision)); }

/// Returns 1 + r + ... + r^(count - 1).
double geometric(double r, double count) {
  return r >= 1 ? count : std::min(count, (1 - std::pow(r, count)) / (1 - r));
}

/// Returns geometric(r, 1) + ... + geometric(r, count).
double sum_of_geometric(double r, double count) {
  const double at_most = count * (count + 1) / 2;
  return r >= 1 ? at_most : std::min(at_most, count / (1 - r));
}

/// Returns the sum of `count` roundings, in units of one rounding.
double of_sum(double count, Roundings roundings) {
  return roundings == Roundings::worst ? count : std::sqrt(count);
}

/// Returns the additions of a sum: separable sweeps add the taps of each axis.
double additions(const Stencil& weights, const Method& method) {
  if (method.layout != Layout::separable) return static_cast<double>(weights.taps().size() + 1);
  const Index3 extent = tap_box(weights).extent();
  return static_cast<double>(extent[z_axis] + extent[y_axis] + extent[x_axis]);
}

/// Bounds the error of the sums of a sweep without a source, as a share of sum |w| times the norm of what it
/// reads. A chain of multiply-adds rounds each weight once, and its sum after each weight and after the
/// source; tf32 rounds both factors of each product.
double error_of_sums(const Stencil& weights, const Method& method, Precision precision, Roundings roundings) {
  const double count = additions(weights, method);
  if (!method.layout) {
    const double factors = precision == Precision::tf32 ? 2 * unit_roundoff(precision) : 0;
    return factors + (1 + of_sum(count, roundings)) * rounding_of_sums(precision);
  }
  LaunchError error = sweep_error(weights, precision, *method.layout, method.dropped);
  error.accumulation *= of_sum(count, roundings) / count;
  return error.weights + error.operands + error.accumulation;
}

/// Bounds the error of a sweep whose field, source and result have these norms.
double sweep_bound(const Stencil& weights, const Method& method, Precision precision, Roundings roundings,
                   double field, double source_factor, double source, double result) {
  const double added = std::abs(source_factor) * source;
  return error_of_sums(weights, method, precision, roundings) * (sum_abs(weights) * field + added) +
         rounding_of_sums(precision) * added + rounding_of_storage(precision) * result;
}

/// Bounds the errors of launches, as shares of the largest norm of the field.
struct LocalErrors {
  double stride, stride_of_difference;
  double first_state, first_difference;  // errors of the first launch: two sweeps each
  double conversion;                     // from u(n - 1) to the difference, or back
};

LocalErrors local_errors(const StrideWeights& weights, const Method& method, Precision precision,
                         Roundings roundings) {
  constexpr double difference = 2;  // the norm of u(n) - u(n - 1) at most
  const auto local = [&](const Stencil& of, double field, double factor, double source, double result) {
    return sweep_bound(of, method, precision, roundings, field, factor, source, result);
  };
  // The first launch stores the part of the state before it adds that of the difference.
  const auto first = [&](const Stencil& of_state, const Stencil& of_difference, double result) {
    const double part = sum_abs(of_state);
    return local(of_state, 1, 0, 0, part) + local(of_difference, difference, 1, part, result);
  };
  const auto& [stride, factor] = weights.stride;
  return {local(stride, 1, factor, 1, 1), local(stride, difference, factor, difference, difference),
          first(weights.state_from_state, weights.state_from_difference, 1),
          first(weights.difference_from_state, weights.difference_from_difference, difference),
          difference * rounding_of_storage(precision)};
}

/// Bounds the error that one stretch of strides causes at the end of the run. The stretch starts anew, takes
/// `launches` launches and ends `left` steps before the end of the run.
double error_of_stretch(const LocalErrors& local, const TwoLevelGrowth& growth, int fuse, double launches,
                        double left) {
  if (launches == 0) return 0;
  const double q = growth.of_difference, r = std::pow(q, fuse);
  const double first = geometric(r, launches), later = sum_of_geometric(r, launches - 1);
  return std::min(growth.of_the_state, 2 * left + 1) * (first * local.first_state + later * local.stride) +
         geometric(q, left) * (first * local.first_difference + later * local.stride_of_difference) +
         local.conversion * (geometric(q, launches * fuse + left) + geometric(q, left));
}

}  // namespace

TwoLevelGrowth growth_of(const TwoLevelEquation& equation) {
  TwoLevelGrowth growth{0, 1, std::abs(equation.q)};
  constexpr double merged = 1e-7;  // roots closer than this are taken to be equal
  for (const std::complex<double>& s : sampled_symbol(equation.s, {32, 32, 32})) {
    const std::complex<double> root = std::sqrt(s * s - 4 * equation.q), a = (s + root) / 2.0,
                               b = (s - root) / 2.0;
    growth.largest_root = std::max({growth.largest_root, std::abs(a), std::abs(b)});
    if (std::abs(root) < merged && std::abs(1.0 - a) < merged) continue;
    growth.of_the_state =
        std::max(growth.of_the_state, (std::abs(1.0 - a) + std::abs(1.0 - b)) / std::abs(root));
  }
  return growth;
}

double strided_error(const TwoLevelEquation& equation, const Method& method, Precision precision,
                     const StridedRun& run, Roundings roundings) {
  const LocalErrors local = local_errors(stride_weights(equation, method.fuse), method, precision, roundings);
  const TwoLevelGrowth growth = growth_of(equation);
  const double single = single_steps_error(equation, precision, 1, roundings);
  const auto steps = static_cast<double>(run.steps),
             length = static_cast<double>(std::clamp<std::int64_t>(run.begun_every, 1, run.steps));
  // Stretches of strides are treated in groups, whose errors all grow as long as those of the first.
  constexpr double max_groups = 1000;
  const double stretches = std::ceil(steps / length), of_group = std::ceil(stretches / max_groups);
  double error = 0;
  for (double begun = 0; begun < steps; begun += of_group * length) {
    const double taken = std::min(length, steps - begun), left = steps - begun - taken;
    const double launches = std::floor(taken / method.fuse), singles = taken - launches * method.fuse;
    error += of_group * (error_of_stretch(local, growth, method.fuse, launches, left) +
                         singles * geometric(growth.of_difference, left + taken) * single);
  }
  return error;
}

double single_steps_error(const TwoLevelEquation& equation, Precision precision, std::int64_t steps,
                          Roundings roundings) {
  const double q = std::abs(equation.q), count = static_cast<double>(equation.s.taps().size() + 1);
  const double factors = precision == Precision::tf32 ? 2 * unit_roundoff(precision) : 0;
  return ((factors + (1 + of_sum(count, roundings)) * rounding_of_sums(precision)) *
              (sum_abs(equation.s) + q) +
          rounding_of_storage(precision)) *
         sum_of_geometric(q, static_cast<double>(steps));
}

}  // namespace spsolve
