// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "app/setup/device.hpp"
#include "app/setup/kept_plan.hpp"
#include "io/input/config.hpp"
#include "solver/interval.hpp"
#include "solver/plan/plan.hpp"

namespace spsolve {

/// Returns how often a stream of [[outputs]] writes a file.
Interval interval_of(const OutputStreamConfig& stream, double dt);

/// Returns the intervals of streams and images, and of probes of a problem without equations, at whose ends
/// launches end, too.
std::vector<Interval> record_intervals(const RunConfig& config, const Problem& problem);

/// Returns what an input asks of the plan.
PlanRequest plan_request(const RunConfig& config, const Problem& problem);

/// A request that continues a plan; `note` says in words what it does not keep of that plan.
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
ContinuedRequest continue_plan(PlanRequest request, const DeviceModel& device, const KeptPlan& plan);

/// Returns the candidates of rank 0 on all ranks, which may have other processors and so other roundings and
/// other choices: what launches need of them, and the seconds that how often halos are exchanged follows
/// from. Collective.
std::vector<Candidate> broadcast_candidates(const Communicator& communicator,
                                            const std::vector<Candidate>& candidates);

/// make_plan() by rank 0; other ranks get its choice. Collective; every rank throws the same Error.
Plan agreed_plan(const Communicator& communicator, const Problem& problem, const DeviceModel& device,
                 const PlanRequest& request);

/// Returns the model of what a run uses: the nominal one, in proportion to the ceilings measured on devices
/// of this kind where there are any; or the one that a file describes: [device] with name, gpu and the keys
/// of device_model_entries(), others as nominal. Throws Error(invalid_input) naming line and key.
DeviceModel device_model(const DeviceChoice& device);
DeviceModel device_model(const std::filesystem::path& file);

}  // namespace spsolve
