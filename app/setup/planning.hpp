// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "app/setup/device.hpp"
#include "app/setup/stored_plan.hpp"
#include "io/input/config.hpp"
#include "solver/interval.hpp"
#include "solver/plan/plan.hpp"

namespace spsolve {

/// Returns how often a stream of [[outputs]] writes a file.
Interval interval_of(const OutputStreamConfig& stream, double dt);

/// Returns the intervals of streams and images, and of probes of a problem without equations, at whose ends
/// launches end.
std::vector<Interval> record_intervals(const RunConfig& config, const Problem& problem);

/// Returns the request to the plan that an input makes.
PlanRequest plan_request(const RunConfig& config, const Problem& problem);

/// Holds a request that continues a plan; `note` says which parts of that plan it does not keep.
struct ContinuedRequest {
  PlanRequest request;
  std::string note = {};
};

/// Returns the numbers that the model gives a candidate, by the names of paper 003 where it has them; C and M
/// are per point and launch. P and the ridge are null where no ceiling is known (systems of equations).
nlohmann::ordered_json model_of(const Candidate& candidate);

/// Returns the request of a run that goes on with a plan. The plan is kept where the request says "auto",
/// unless it needs tensor cores that `device` lacks, or its error bound exceeds the accuracy that is accepted
/// now. Its precision is always kept, since the values have it.
ContinuedRequest continue_plan(PlanRequest request, const Problem& problem, const DeviceModel& device,
                               const StoredPlan& plan);

/// Returns the candidates of rank 0 on all ranks. Other ranks may have other processors, and so other
/// roundings and choices. The function broadcasts the members that launches need, and the seconds that decide
/// how often halos are exchanged. Collective.
std::vector<Candidate> broadcast_candidates(const Communicator& communicator,
                                            const std::vector<Candidate>& candidates);

/// Makes the plan on rank 0 and sends its choice to the other ranks. Collective; every rank throws the same
/// Error.
Plan agreed_plan(const Communicator& communicator, const Problem& problem, const DeviceModel& device,
                 const PlanRequest& request);

/// Return the model of a device. The model of the device of a run is the nominal one, scaled to the ceilings
/// measured on devices of this kind if there are any. A file describes a device by [device] with name, gpu
/// and the keys of device_model_entries(); absent keys have nominal values. Throws Error(invalid_input)
/// naming line and key.
DeviceModel device_model(const DeviceChoice& device);
DeviceModel device_model(const std::filesystem::path& file);

}  // namespace spsolve
