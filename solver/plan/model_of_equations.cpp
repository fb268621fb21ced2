// SPDX-License-Identifier: Apache-2.0
#include "solver/plan/model_of_equations.hpp"

#include <algorithm>
#include <limits>

#include "kernels/cuda/launch/kernel_axes.hpp"
#include "kernels/cuda/scalar/march_tile.hpp"
#include "kernels/cuda/system/fused_tile.hpp"
#include "kernels/cuda/system/system_group.hpp"
#include "kernels/precision.hpp"
#include "kernels/sampling.hpp"
#include "solver/plan/model_parts.hpp"

namespace spsolve {

namespace {

/// Adds the cost of a march of a single field that takes several steps of an equation with two time levels.
/// Returns false if there is none.
bool evaluate_two_levels(const Problem& problem, const TwoLevelEquation& equation, const DeviceModel& device,
                         Candidate& candidate) {
  const Problem single{problem.domain_of(0), equation.s, format_of(problem.precision), true};
  const auto tile = cuda::two_level_tile(single.domain, single.stencil, single.precision, candidate.fuse,
                                         limits_of(device));
  if (!tile) return false;
  cuda::MarchModel march = march_model_of(single, device);
  march.stencil.two_levels = true;
  const double per_step = 1 / (static_cast<double>(single.domain.box().points()) * candidate.fuse);
  candidate.memory_seconds *= device.costs().march.two_fields_read;
  if (march.space()) candidate.memory_seconds *= device.costs().march.halos_read_again;
  candidate.compute_seconds = compute_seconds(march, march.shape, candidate.fuse) * per_step;
  candidate.fma = static_cast<double>(equation.s.taps().size());
  candidate.seconds = overlapped(device.costs(), {candidate.memory_seconds, candidate.compute_seconds});
  candidate.wall_seconds =
      wall_seconds(march, *tile, candidate.fuse, candidate.fuse, candidate.seconds / per_step) * per_step;
  candidate.seconds += candidate.wall_seconds + candidate.launch_seconds;
  candidate.bound = candidate.compute_seconds > candidate.memory_seconds ? "compute" : "memory";
  return true;
}

/// Adds the cost of a launch of several steps on overlapping tiles; if there is none, it says why.
void evaluate_fused(const Problem& problem, const DeviceModel& device, Candidate& candidate) {
  const Equations& equations = *problem.equations;
  const SystemFacts& facts = equations.facts;
  const auto made =
      cuda::fused_tile(equations.canonical, facts, equations.domains, format_of(problem.precision),
                       candidate.fuse, limits_of(device), {}, equations.filled);
  if (const auto* none = std::get_if<NoKernel>(&made)) {
    candidate.no_kernel = none->why;
    candidate.seconds = std::numeric_limits<double>::infinity();
    return;
  }
  const auto& tile = std::get<cuda::FusedTile>(made);
  const auto points = static_cast<double>(problem.domain.box().points());
  const double cycles = cuda::fused_cycles(tile, problem.domain, format_of(problem.precision),
                                           limits_of(device), device.bandwidth / cuda::fitted_bandwidth);
  candidate.compute_seconds = cycles / (clock_of(device) * points * candidate.fuse);
  candidate.fma = tile.operations;
  candidate.seconds =
      std::max(candidate.memory_seconds, candidate.compute_seconds) + candidate.launch_seconds;
  if (candidate.compute_seconds > candidate.memory_seconds) candidate.bound = "compute";
}

}  // namespace

EquationsModel::EquationsModel(const Problem& problem, const DeviceModel& device)
    : problem_(problem), device_(device) {
  const Equations& equations = *problem.equations;
  if (!device.gpu) {
    for (const auto& [first, last] : equations.facts.groups)
      programs_.push_back(
          step_program(equations.canonical, first, last, storage_bytes(problem.precision) == 2));
    return;
  }
  for (const auto& [first, last] : equations.facts.groups) {
    const auto group = cuda::group_of(equations.canonical, equations.domains, first, last,
                                      cuda::grid_axes(equations.domains.front()));
    if (const auto* none = std::get_if<NoKernel>(&group)) cuda::refuse_step(*none);
  }
  if (equations.fills_ghosts()) return;  // marches of single fields fill no ghost points
  auto found = strided_equation(problem);
  if (auto* equation = std::get_if<TwoLevelEquation>(&found)) two_levels_ = std::move(*equation);
}

/// A launch reads every field and coefficient once and writes every field; a launch of several steps also
/// writes previous values. Single steps on GPUs are assumed to be limited by memory.
Candidate EquationsModel::evaluate(const Method& method) const {
  Candidate candidate{method};
  candidate.precision = problem_.precision;
  const SystemFacts& facts = problem_.equations->facts;
  const auto value = static_cast<double>(storage_bytes(problem_.precision));
  const auto before =
      method.fuse > 1 ? static_cast<double>(problem_.state_count() - problem_.field_count()) : 0.0;
  candidate.bytes =
      ((facts.fields_read + device_.write_traffic * (facts.fields_written + before)) * value +
       facts.coefficients_read * static_cast<double>(storage_bytes(sum_precision(problem_.precision)))) /
      method.fuse;
  candidate.memory_seconds = candidate.bytes / device_.bandwidth;
  // Filled ghost points take a launch before every group of statements.
  const std::size_t launches = facts.groups.size() * (problem_.equations->fills_ghosts() ? 2 : 1);
  candidate.launch_seconds = device_.launch_seconds * static_cast<double>(launches) /
                             static_cast<double>(problem_.domain.box().points()) / method.fuse;
  candidate.seconds = candidate.memory_seconds + candidate.launch_seconds;
  candidate.bound = candidate.launch_seconds > candidate.memory_seconds ? "launch" : "memory";
  if (!device_.gpu)
    evaluate_system_on_cpu(problem_, programs_, device_, candidate);
  else if (method.fuse > 1 &&
           !(two_levels_ && evaluate_two_levels(problem_, *two_levels_, device_, candidate)))
    evaluate_fused(problem_, device_, candidate);
  if (!candidate.no_kernel.empty()) candidate.seconds = std::numeric_limits<double>::infinity();
  return candidate;
}

}  // namespace spsolve
