// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "kernels/error.hpp"
#include "kernels/precision.hpp"
#include "solver/plan/model_parts.hpp"
#include "solver/plan/plan.hpp"

namespace spsolve {

/// A step reads and writes every field and coefficient once; memory is taken to be what limits it.
Candidate evaluate_equations(const Problem& problem, const DeviceModel& device, const Method& method) {
  Candidate candidate{method};
  candidate.precision = problem.precision;
  const SystemFacts& facts = problem.equations->facts;
  const auto value = static_cast<double>(storage_bytes(problem.precision));
  candidate.bytes =
      (facts.fields_read + device.write_traffic * facts.fields_written) * value +
      facts.coefficients_read * static_cast<double>(storage_bytes(sum_precision(problem.precision)));
  candidate.memory_seconds = candidate.bytes / device.bandwidth;
  candidate.launch_seconds = device.launch_seconds * static_cast<double>(facts.groups.size()) /
                             static_cast<double>(problem.domain.box().points());
  candidate.seconds = candidate.memory_seconds + candidate.launch_seconds;
  candidate.bound = candidate.launch_seconds > candidate.memory_seconds ? "launch" : "memory";
  return candidate;
}

Plan plan_of_equations(const Problem& problem, const DeviceModel& device, const PlanRequest& request) {
  const auto refuse = [](const std::string& key, const std::string& value) {
    throw Error(Status::invalid_input, fmt::format("{} = {}: systems of equations are advanced by the scalar "
                                                   "unit, one step per launch; leave it out, or \"auto\"",
                                                   key, value));
  };
  if (request.unit && *request.unit != UnitKind::scalar)
    refuse("[compute] unit", fmt::format("\"{}\"", to_string(*request.unit)));
  if (request.layout) refuse("[compute] layout", fmt::format("\"{}\"", to_string(*request.layout)));
  if (request.fuse.value_or(1) > 1) refuse("[time] fuse", fmt::format("{}", *request.fuse));
  if (request.accuracy) refuse("[compute] accuracy", fmt::format("{:g}", *request.accuracy));
  Plan plan{device.gpu ? "cuda" : "cpu", device.measured};
  plan.chosen = evaluate_equations(problem, device, Method(1));
  plan.candidates = {plan.chosen};
  plan.reasons = {fmt::format("chosen:     scalar, 1 step per launch: {:.4g} GStencil/s, bound by {}",
                              1e-9 / plan.chosen.seconds, plan.chosen.bound)};
  return plan;
}

}  // namespace spsolve
