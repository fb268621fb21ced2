// SPDX-License-Identifier: Apache-2.0
#include "solver/plan/stride_error.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "kernels/sparse/accuracy.hpp"
#include "kernels/strides/stride_weights.hpp"

namespace spsolve {
namespace {

/// Returns the rounding of sums, which is that of stored numbers, too.
double rounding_of(Precision precision) { return precision == Precision::fp64 ? 0x1p-53 : 0x1p-24; }

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

/// Bounds the error of a sum of `count` terms by a chain of multiply-adds, as a share of the sum of their
/// magnitudes. Each weight is rounded once, and the sum after each term; tf32 rounds both factors of
/// products.
double chain_bound(double count, Precision precision, Roundings roundings) {
  const double factors = precision == Precision::tf32 ? 2 * unit_roundoff(precision) : 0;
  return factors + (1 + of_sum(count, roundings)) * rounding_of(precision);
}

/// Bounds what rounding changes the symbol of weights by: the sum of the magnitudes of all changes.
double change_of_symbol(const Stencil& weights, const Method& method, Precision precision) {
  const double share = method.layout ? sweep_error(weights, precision, *method.layout, method.dropped).weights
                                     : unit_roundoff(precision);
  return share * sum_abs(weights);
}

/// Bounds the error of a sweep without a source, as a share of sum |w| times the norm of what it reads.
double sweep_bound(const Stencil& weights, const Method& method, Precision precision, Roundings roundings) {
  const double count = additions(weights, method);
  if (!method.layout) return chain_bound(count, precision, roundings);
  LaunchError error = sweep_error(weights, precision, *method.layout, method.dropped);
  error.accumulation *= of_sum(count, roundings) / count;
  return error.total();
}

/// Bounds the error of a sweep whose field and source have these norms.
double sweep_bound(const Stencil& weights, const Method& method, Precision precision, Roundings roundings,
                   double field, double source_factor, double source) {
  const double added = std::abs(source_factor) * source;
  return sweep_bound(weights, method, precision, roundings) * (sum_abs(weights) * field + added) +
         rounding_of(precision) * added;
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
  const auto local = [&](const Stencil& of, double field, double factor, double source) {
    return sweep_bound(of, method, precision, roundings, field, factor, source);
  };
  const auto& [stride, factor] = weights.stride;
  return {
      local(stride, 1, factor, 1), local(stride, difference, factor, difference),
      local(weights.state_from_state, 1, 0, 0) +
          local(weights.state_from_difference, difference, 1, sum_abs(weights.state_from_state)),
      local(weights.difference_from_state, 1, 0, 0) +
          local(weights.difference_from_difference, difference, 1, sum_abs(weights.difference_from_state)),
      difference * rounding_of(precision)};
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
  Index3 waves{1, 1, 1};           // along axes on which S reads neighbours
  for (int axis = 0; axis < axis_count; ++axis)
    if (equation.s.radius()[axis] > 0) waves[axis] = 32;
  for (const std::complex<double>& s : sampled_symbol(equation.s, waves)) {
    const std::complex<double> root = std::sqrt(s * s - 4 * equation.q), a = (s + root) / 2.0,
                               b = (s - root) / 2.0;
    growth.largest_root = std::max({growth.largest_root, std::abs(a), std::abs(b)});
    if (std::abs(root) < merged && std::abs(1.0 - a) < merged) continue;
    growth.of_the_state =
        std::max(growth.of_the_state, (std::abs(1.0 - a) + std::abs(1.0 - b)) / std::abs(root));
  }
  return growth;
}

double growth_by_rounding(const StrideLeapfrog& stride, const Method& method, Precision precision,
                          std::int64_t steps) {
  // The symbol of L_t is at most 1 + q^t, as no root exceeds 1. Rounding adds to it, and to q^t.
  const double product = std::abs(stride.previous) * (1 + rounding_of(precision)),
               sum = 1 + product + change_of_symbol(stride.now, method, precision),
               root = (sum + std::sqrt(sum * sum - 4 * product)) / 2;
  return std::pow(root, static_cast<double>(steps) / method.fuse);
}

double strided_error(const TwoLevelEquation& equation, const Method& method, Precision precision,
                     const StridedRun& run, Roundings roundings) {
  const StrideWeights weights = stride_weights(equation, method.fuse);
  const LocalErrors local = local_errors(weights, method, precision, roundings);
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
  return error * growth_by_rounding(weights.stride, method, precision, run.steps);
}

double single_steps_error(const TwoLevelEquation& equation, Precision precision, std::int64_t steps,
                          Roundings roundings) {
  const double q = std::abs(equation.q), count = static_cast<double>(equation.s.taps().size() + 1);
  return chain_bound(count, precision, roundings) * (sum_abs(equation.s) + q) *
         sum_of_geometric(q, static_cast<double>(steps));
}

}  // namespace spsolve
