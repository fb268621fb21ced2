// SPDX-License-Identifier: Apache-2.0
#include "app/inspect/growth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/values/derived_coefficients.hpp"
#include "kernels/catalogue/presets.hpp"
#include "kernels/strides/spectral_radius.hpp"
#include "kernels/wall_growth.hpp"

namespace spsolve {
namespace {

/// Rounds a positive number down to `digits` significant digits, so that a limit that is printed still holds.
double rounded_down(double number, int digits) {
  const double unit = std::pow(10.0, std::floor(std::log10(number)) + 1 - digits);
  return std::floor(number / unit) * unit;
}

void warn_of_growth_of_stencil(const Setup& setup, const Terminal& terminal) {
  const Stencil& stencil = setup.problem.stencil;
  const double growth = growth_factor(stencil, setup.problem.domain);
  // Each tap's weight, and each factor of an axis, may be rounded by half a unit of its last place.
  double rounding = 0x1p-52 * static_cast<double>(stencil.taps().size() + 4);
  // If fp32 holds all weights, they were probably rounded to it.
  if (std::ranges::all_of(stencil.taps(),
                          [](const Tap& tap) { return tap.weight == static_cast<float>(tap.weight); }))
    rounding += 0x1p-24 * sum_abs(stencil);
  if (growth <= 1.0 + rounding) return;
  std::string advice;
  const auto* preset = std::get_if<PresetForm>(&setup.config.stencil);
  if (preset && preset->parameters.count("dt")) {
    const double dt = preset->parameters.at("dt").front();
    const double stable = largest_stable_dt(stencil, dt, setup.problem.domain);
    advice = stable > 0 ? fmt::format("; the largest stable time step is {:g}, this one is {:.6g}",
                                      rounded_down(stable, 6), dt)
                        : std::string("; no time step is stable without more diffusion");
  }
  terminal.warn("the weights amplify some wave by 1 + {:.2g} per step: the solution may grow without bound{}",
                growth - 1.0, advice);
}

/// Ignores a growth below the accuracy of eigenvalues, about 1e-9 (kernels/strides/spectral_radius.cpp). A
/// wave that grows by less takes 10^8 steps to grow by a factor e.
constexpr double not_growth = 1e-8;

/// Limits the matrix of a step, whose eigenvalues take time as the cube of its size.
constexpr std::size_t most_unknowns = 64;

/// Returns the points of a block at which a derived coefficient is least and largest.
std::array<Index3, 2> extreme_points(const Canonical& canonical, TermId coefficient, const Box& block,
                                     const LeafRow& leaf) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  std::array<Index3, 2> points{block.begin, block.begin};
  interpret_rows(canonical.terms, coefficient, block, leaf,
                 [&](const Index3& first, std::span<const double> row) {
                   const auto [low, high] = std::ranges::minmax_element(row);
#pragma omp critical
                   {
                     // The first of several equal values is taken, whatever the order of the rows.
                     const Index3 at_low = first + Index3{0, 0, low - row.begin()};
                     const Index3 at_high = first + Index3{0, 0, high - row.begin()};
                     if (*low < least || (*low == least && at_low < points[0]))
                       least = *low, points[0] = at_low;
                     if (*high > most || (*high == most && at_high < points[1]))
                       most = *high, points[1] = at_high;
                   }
                 });
  return points;
}

/// Returns points whose values replace coefficients that vary: the middle and the corners of the block, and
/// the points where derived coefficients are least and largest.
std::vector<Index3> sample_points(const Equations& equations, const Box& block, const LeafRow& leaf) {
  if (block.empty()) return {};
  const Canonical& canonical = equations.canonical;
  std::vector<Index3> points;
  if (canonical.coefficients.empty()) return {block.begin};
  Index3 middle = block.begin;
  for (int axis = 0; axis < axis_count; ++axis) middle[axis] += block.extent()[axis] / 2;
  points.push_back(middle);
  for_each_point(box_of({2, 2, 2}), [&](const Index3& side) {
    Index3 corner;
    for (int axis = 0; axis < axis_count; ++axis)
      corner[axis] = side[axis] == 0 ? block.begin[axis] : block.end[axis] - 1;
    points.push_back(corner);
  });
  for (const TermId coefficient : canonical.coefficients)
    std::ranges::copy(extreme_points(canonical, coefficient, block, leaf), std::back_inserter(points));
  std::ranges::sort(points);
  points.erase(std::ranges::unique(points).begin(), points.end());
  return points;
}

FrozenValues frozen_values(const RunConfig& config, const CoefficientValues& values, const Index3& p) {
  FrozenValues frozen;
  for (std::size_t i = 0; i < config.equations->coefficients.size(); ++i)
    frozen.coefficients.push_back(values.at(i, p));
  for (int axis = 0; axis < axis_count; ++axis) frozen.at[axis] = config.grid.coordinate(axis, p[axis]);
  return frozen;
}

/// Returns a step with these values everywhere as a matrix, or nothing if the step is not linear.
std::optional<StepMatrix> step_with(const Setup& setup, const Stencils& stencils, double dt,
                                    const FrozenValues& values) {
  const RunConfig& config = setup.config;
  Stencils of_step = stencils;
  if (config.equations->of_stencil && dt != config.time.dt)  // the weights are those of a step of the input
    for (auto& [name, stencil] : of_step) stencil = part_of_step(stencil, dt / config.time.dt);
  return step_matrix(canonical_form(frozen(system_of(*config.equations, config.grid, dt, of_step), values)));
}

/// Returns the growth of a step with these values everywhere, or nothing if the step is not linear.
std::optional<Growth> growth_with(const Setup& setup, const Stencils& stencils, double dt,
                                  const FrozenValues& values) {
  const auto step = step_with(setup, stencils, dt, values);
  if (!step) return {};
  std::vector<Domain> walls;
  for (const Domain& domain : setup.problem.equations->domains)
    walls.push_back(
        with_plain_faces(domain, setup.problem.equations->filled, static_cast<int>(walls.size())));
  return growth_of(step->matrix, walls);
}

/// Returns the largest time step, up to that of the input, with which no wave grows, or 0 if there is none.
/// It is found by bisection, which assumes that all steps below some bound are stable.
double largest_stable_step(const Setup& setup, const Stencils& stencils, const FrozenValues& values) {
  constexpr int halvings = 24;
  double stable = 0, unstable = setup.config.time.dt;
  for (int i = 0; i < halvings; ++i) {
    const double dt = (stable + unstable) / 2;
    const auto growth = growth_with(setup, stencils, dt, values);
    (growth && growth->spectral_radius <= 1 + not_growth ? stable : unstable) = dt;
  }
  // A bound that bisection would push to zero is no stable time step.
  return stable > setup.config.time.dt * std::ldexp(1.0, 2 - halvings) ? stable : 0;
}

/// Returns false if the input gives the weights of [stencil] themselves, which no time step changes.
bool has_adjustable_step(const RunConfig& config) {
  const auto* preset = std::get_if<PresetForm>(&config.stencil);
  return !config.equations->of_stencil || (preset && preset->parameters.contains("dt"));
}

/// Warns that a wave grows by the factor `radius` in a step.
void warn_of_radius(double radius, const std::string& advice, const Terminal& terminal) {
  terminal.warn(
      "the equations amplify some wave by 1 + {:.2g} per step: the solution may grow without bound{}",
      radius - 1, advice);
}

}  // namespace

void print_growth(const Communicator& communicator, const Setup& setup, const Terminal& terminal) {
  const RunConfig& config = setup.config;
  const int rank = communicator.rank();
  const Box block = rank < setup.decomposition.ranks() ? setup.decomposition.block(rank) : Box{};
  const Equations& equations = *setup.problem.equations;
  const CoefficientValues values(communicator, config, hull_of(block, coefficient_leaves(equations, block)));
  require_derived_in_range(communicator, config, setup.problem, values, block);
  if (const std::size_t unknowns = setup.problem.state_count(); unknowns > most_unknowns) {
    terminal.print("spectral radius: not looked for, because a step has {} unknowns, more than {}", unknowns,
                   most_unknowns);
    return;
  }
  const Stencils stencils = read_stencils(communicator, config);
  double worst = 0, stable = 0;
  bool linear = true, defective = false;
  std::optional<FrozenValues> of_worst;
  for (const Index3& p : sample_points(equations, block, leaf_rows(config.grid, values))) {
    const FrozenValues at = frozen_values(config, values, p);
    const auto growth = growth_with(setup, stencils, config.time.dt, at);
    linear = linear && growth.has_value();
    if (!growth) break;
    defective = defective || growth->defective;
    if (growth->spectral_radius > worst) worst = growth->spectral_radius, of_worst = at;
  }
  if (communicator.all_reduce(static_cast<int>(linear), MPI_MIN) == 0) {
    terminal.print("spectral radius: none, because the equations are not linear");
    return;
  }
  const double largest = communicator.all_reduce(worst, MPI_MAX);
  terminal.print("spectral radius of a step: {:.12g}{}", largest,
                 equations.canonical.coefficients.empty()
                     ? ""
                     : " (with the values of some points in place of what varies)");
  if (largest > 1 + not_growth) {
    const bool adjustable = has_adjustable_step(config);
    if (adjustable && of_worst && worst == largest) stable = largest_stable_step(setup, stencils, *of_worst);
    stable = communicator.all_reduce(stable, MPI_MAX);
    warn_of_radius(largest,
                   stable > 0
                       ? fmt::format("; the largest stable time step is about {:g}, this one is {:.6g}",
                                     rounded_down(stable, 4), config.time.dt)
                   : adjustable ? "; no smaller time step changes that"
                                : "",
                   terminal);
  } else if (communicator.all_reduce(static_cast<int>(defective), MPI_MAX) == 1) {
    terminal.warn("some wave grows linearly with time, because an eigenvalue of the step is defective");
  }
}

void warn_of_growth(const Communicator& communicator, const Setup& setup, const Terminal& terminal) {
  const RunConfig& config = setup.config;
  const Problem& problem = setup.problem;
  if (!problem.equations) return warn_of_growth_of_stencil(setup, terminal);
  if (!problem.equations->canonical.coefficients.empty() || !config.equations->coefficients.empty() ||
      problem.state_count() > most_unknowns)
    return;
  const auto growth = growth_with(setup, read_stencils(communicator, config), config.time.dt, {});
  if (growth && growth->spectral_radius > 1 + not_growth)
    warn_of_radius(growth->spectral_radius, "; spsolve check looks for the largest stable time step",
                   terminal);
}

bool looks_for_stable_step(const Communicator& communicator, const Setup& setup) try {
  const RunConfig& config = setup.config;
  if (setup.problem.state_count() > most_unknowns || !has_adjustable_step(config)) return false;
  // Whether a step is linear hardly ever depends on the values, unless they are 0 or 1.
  const FrozenValues any{.coefficients = std::vector(config.equations->coefficients.size(), 0.7),
                         .at = {0.7, 0.7, 0.7}};
  return step_with(setup, read_stencils(communicator, config), config.time.dt, any).has_value();
} catch (const StatementError&) {  // weights are not finite at t = 0
  return false;
}

}  // namespace spsolve
