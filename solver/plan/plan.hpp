// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "solver/plan/model.hpp"

namespace spsolve {

/// How often launches must end: a depth that does not divide `every` leaves a rest for single steps.
struct Pace {
  std::int64_t every = 0;   // steps between events; 0: never
  bool last_alone = false;  // launches end one step before an event, too (diagnostics)
  double cuts = 0;          // events per step that are no multiples of `every`, each amid a launch at worst
  std::int64_t steps = 0;   // of the run; 0: not known
  std::int64_t checkpoints = 0;  // steps between checkpoints; 0: never
};

/// Holds what the user insists on. Where a member has no value, the plan decides.
struct PlanRequest {
  std::optional<UnitKind> unit = {};
  std::optional<Layout> layout = {};
  std::optional<int> fuse = {};
  Pace pace = {};
  /// The relative L2 error per step that is accepted: any precision that keeps it may be chosen, the
  /// problem's being the finest.
  std::optional<double> accuracy = {};
  std::optional<Precision> precision = {};  // this one of them
  std::optional<double> dropped = {};       // Method::dropped of separable sweeps, as they were begun with
  /// Also methods that do not keep the promise of the precision: for measurements, and runs that began so.
  bool unpromised = false;
  std::optional<bool> strided = {};  // whether launches of equations are strides
};

/// How a problem is advanced (docs/internals/plan.md). A function of the global problem, the model of the
/// device and the request: the same for any number of ranks, so that results are too.
struct Plan {
  std::string device;    // cpu, cuda
  bool measured = true;  // the rates of the device, not guessed
  Candidate chosen = {};
  std::vector<Candidate> candidates = {};  // by precision, unit, layout, depth; seconds and error at the pace
  std::vector<LeftOut> left_out = {};      // in the same order, and what an accepted accuracy excludes
  std::vector<std::string> reasons = {};   // in words: what was chosen, and instead of what
  std::string note = {};  // what was taken in place of a layout that the device does not have
};

/// Models every unit, layout and depth and chooses the fastest, or what is requested. Throws
/// Error(invalid_input) if the request cannot be met.
Plan make_plan(const Problem& problem, const DeviceModel& device, const PlanRequest& request);

/// The plan of a system of equations: candidates differ in the number of steps per launch. Throws as
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

/// Returns the candidates worth timing, the fastest first: the best depth of each unit, layout and precision
/// that is not out of the question, then other depths of these, a quarter apart at least.
std::vector<Candidate> best_candidates(const Plan& plan, std::size_t count);

/// Returns the seconds of a candidate, per point and step, when launches must end at this pace.
double paced_seconds(const Problem& problem, const DeviceModel& device, const Candidate& candidate,
                     const Pace& pace);

/// Bounds its relative L2 error per step at this pace, on average over the steps until an event: rests
/// and steps alone are the scalar unit's.
double paced_error(const Problem& problem, const Candidate& candidate, const Pace& pace);

}  // namespace spsolve
