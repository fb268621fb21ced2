// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "io/config.hpp"
#include "solver/plan.hpp"

namespace spsolve {

/// What an input asks of the plan.
PlanRequest plan_request(const RunConfig& config);

/// The same where a run goes on with a plan, as JSON: it is kept where the request says "auto", unless it
/// needs tensor cores that `device` has not. Throws Error(file_failure) if it cannot be read.
PlanRequest continue_plan(PlanRequest request, const DeviceModel& device, const std::string& plan);

/// What of a plan a run needs to go on, as JSON text.
std::string to_json(const Plan& plan);

/// The nominal model of what a run uses, or the one that a file describes: [device] with name, gpu and the
/// keys of device_model_entries(), others as nominal. Throws Error(invalid_input) naming line and key.
DeviceModel device_model(bool gpu, const std::optional<std::filesystem::path>& file);

}  // namespace spsolve
