// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "solver/plan/event_pattern.hpp"
#include "solver/plan/model.hpp"

namespace spsolve {

/// Holds what the user insists on. Where a member has no value, the plan decides.
struct PlanRequest {
  std::optional<UnitKind> unit = {};
  std::optional<Layout> layout = {};
  std::optional<int> fuse = {};
  EventPattern events = {};
  /// Holds the error of the state after all steps that is accepted, as run_error() bounds it. Any precision
  /// that keeps it may be chosen; the problem's is the finest.
  std::optional<double> accuracy = {};
  std::optional<Precision> precision = {};  // the precision to compute in
  std::optional<double> dropped = {};       // Method::dropped with which the run began
  /// Also allows methods that do not keep the promise of the precision: for measurements, and for runs that
  /// began with them.
  bool unpromised = false;
  std::optional<bool> strided = {};  // whether launches of equations are strides
};

/// Returns the part of the accepted error that falls to each step of a run; 0 if no error is accepted.
inline double accepted_per_step(const PlanRequest& request) {
  return request.accuracy.value_or(0.0) / static_cast<double>(steps_of(request.events));
}

/// Holds the chosen method and all candidates (docs/internals/plan.md). A plan is a function of the global
/// problem, the model of the device and the request. The plan is the same for any number of ranks, and so are
/// the results.
struct Plan {
  std::string device;    // cpu, cuda
  bool measured = true;  // the device's rates were measured, not guessed
  Candidate chosen = {};
  /// `candidates` are ordered by precision, unit, layout and depth. Their seconds and errors include events.
  std::vector<Candidate> candidates = {};
  /// `rejected` has the order of the candidates, and includes methods that an accepted accuracy excludes.
  std::vector<RejectedMethod> rejected = {};
  std::vector<std::string> reasons = {};  // sentences on the choice and the alternatives
  std::string note = {};                  // the substitute for a layout that the device does not have
  bool of_equations = false;              // launches are of Problem::equations
};

/// Bounds the L2 error of the state of a single field after all steps of a run by one plan, as a share of the
/// largest norm that the field has in the run: the sum of the errors of all steps and of the initial state,
/// which is stored rounded. It holds where a step lets no wave grow, so that errors do not grow either.
double run_error(const Problem& problem, const Candidate& candidate, const EventPattern& events);

/// Models every unit, layout and depth and chooses the fastest, or what is requested. Throws
/// Error(invalid_input) if the request cannot be met.
Plan make_plan(const Problem& problem, const DeviceModel& device, const PlanRequest& request);

/// Makes the plan of a system of equations: candidates differ in the number of steps per launch. Throws as
/// make_plan().
Plan plan_of_equations(const Problem& problem, const DeviceModel& device, const PlanRequest& request);

/// Returns the fastest of the candidates that `is_wanted` takes, null if there is none.
template <class IsWanted>
const Candidate* fastest(const std::vector<Candidate>& candidates, IsWanted&& is_wanted) {
  const Candidate* best = nullptr;
  for (const Candidate& candidate : candidates)
    if (is_wanted(candidate) && (!best || candidate.seconds < best->seconds)) best = &candidate;
  return best;
}

/// Returns true if two candidates have the same precision, unit, layout and depth.
bool is_same_method(const Candidate& a, const Candidate& b);

/// Returns the candidates worth timing, the fastest first. First comes the best depth of each unit, layout
/// and precision that may win, then other depths of these, at least a quarter apart, and last the best depth
/// of those that can hardly win.
std::vector<Candidate> best_candidates(const Plan& plan, std::size_t count);

/// Returns the seconds of a candidate, per point and step, when launches end at these events.
double mean_seconds(const Problem& problem, const DeviceModel& device, const Candidate& candidate,
                    const EventPattern& events);

/// Bounds the relative L2 error per step of a candidate with these events, on average over the steps until an
/// event. The scalar unit takes remainders and steps alone.
double mean_error(const Problem& problem, const Candidate& candidate, const EventPattern& events);

}  // namespace spsolve
