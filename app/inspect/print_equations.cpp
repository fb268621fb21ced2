// SPDX-License-Identifier: Apache-2.0
#include "app/inspect/print_equations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>

#include "app/inspect/describe.hpp"
#include "app/values/derived_coefficients.hpp"
#include "kernels/cuda/system/system_arguments.hpp"
#include "kernels/operator/repeating_form.hpp"
#include "kernels/strides/spectral_radius.hpp"
#include "kernels/wall_growth.hpp"

namespace spsolve {
namespace {

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

/// Returns the growth of a step with these values everywhere, or nothing if the step is not linear.
std::optional<Growth> growth_with(const RunConfig& config, const Stencils& stencils, double dt,
                                  const FrozenValues& values) {
  Stencils of_step = stencils;
  if (config.equations->of_stencil && dt != config.time.dt)  // the weights are those of a step of the input
    for (auto& [name, stencil] : of_step) stencil = part_of_step(stencil, dt / config.time.dt);
  const Canonical canonical =
      canonical_form(frozen(system_of(*config.equations, config.grid, dt, of_step), values));
  const auto step = step_matrix(canonical);
  if (!step) return {};
  return growth_of(step->matrix, domains_of(*config.equations, config.grid));
}

/// Returns the largest time step, up to that of the input, with which no wave grows, or 0 if there is none.
/// It is found by bisection, which assumes that all steps below some bound are stable.
double largest_stable_step(const RunConfig& config, const Stencils& stencils, const FrozenValues& values) {
  constexpr int halvings = 24;
  double stable = 0, unstable = config.time.dt;
  for (int i = 0; i < halvings; ++i) {
    const double dt = (stable + unstable) / 2;
    const auto growth = growth_with(config, stencils, dt, values);
    (growth && growth->spectral_radius <= 1 + not_growth ? stable : unstable) = dt;
  }
  // A bound that bisection would push to zero is no stable time step.
  return stable > config.time.dt * std::ldexp(1.0, 2 - halvings) ? stable : 0;
}

/// Returns false if the input gives the weights of [stencil] themselves, which no time step changes.
bool has_adjustable_step(const RunConfig& config) {
  const auto* preset = std::get_if<PresetForm>(&config.stencil);
  return !config.equations->of_stencil || (preset && preset->parameters.contains("dt"));
}

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
    const auto growth = growth_with(config, stencils, config.time.dt, at);
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
    if (adjustable && of_worst && worst == largest) stable = largest_stable_step(config, stencils, *of_worst);
    stable = communicator.all_reduce(stable, MPI_MAX);
    terminal.warn(
        "the equations amplify some wave by 1 + {:.2g} per step: the solution may grow without "
        "bound{}",
        largest - 1,
        stable > 0   ? fmt::format("; the largest stable time step is about {:g}, this one is {:.6g}",
                                   rounded_down(stable, 4), config.time.dt)
        : adjustable ? "; no smaller time step changes that"
                     : "");
  } else if (communicator.all_reduce(static_cast<int>(defective), MPI_MAX) == 1) {
    terminal.warn("some wave grows linearly with time, because an eigenvalue of the step is defective");
  }
}

/// Warns of values one step before the first that no equation reads.
void warn_of_unread_previous(const Setup& setup, const Terminal& terminal) {
  const auto& fields = setup.config.equations->fields;
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (fields[i].previous && !setup.problem.has_previous(i))
      terminal.warn("[fields.{0}] previous is not used, because the equations do not read {0}.previous",
                    fields[i].name);
}

}  // namespace

void print_equations(const Communicator& communicator, const Setup& setup, const Terminal& terminal) {
  const Equations& equations = *setup.problem.equations;
  const Canonical& canonical = equations.canonical;
  const SystemFacts& facts = equations.facts;
  terminal.print("canonical form, as units compute it:");
  std::istringstream lines(text_of(canonical));
  for (std::string line; std::getline(lines, line);) terminal.print("  {}", line);
  for (const EquationFacts& equation : facts.equations)
    terminal.print("{}.next: {}", canonical.field_names[equation.field], text_of(equation, canonical));
  const auto count = static_cast<int>(facts.groups.size());
  terminal.print(
      "a step: {} of {}, {} bytes per point that must move ({} read, {} written)",
      fmt::format("{} {}", count, count == 1 ? "pass" : "passes"),
      counted(std::ssize(facts.equations), "equation"),
      facts.bytes_per_point(static_cast<int>(storage_bytes(setup.problem.precision)),
                            static_cast<int>(storage_bytes(sum_precision(setup.problem.precision)))),
      counted(facts.fields_read, "field") + " and " + counted(facts.coefficients_read, "coefficient"),
      counted(facts.fields_written, "field"));
  // Only kernels for GPUs lose by many arrays.
  const int arrays = facts.fields_read + facts.coefficients_read + facts.fields_written;
  if (setup.device.cuda || arrays > cuda::max_system_arrays)
    if (const std::string advice = advice_on_displaced_formulas(canonical, 1); !advice.empty())
      terminal.print("arrays: {}", advice);
  warn_of_unread_previous(setup, terminal);
  print_growth(communicator, setup, terminal);
}

}  // namespace spsolve
