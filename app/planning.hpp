// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "io/config.hpp"
#include "solver/plan.hpp"

namespace spsolve {

/// What an input asks of the plan. `continued` (or empty): the plan of the run that goes on, as JSON; it is
/// kept where the input says "auto", unless it needs tensor cores that `device` has not.
PlanRequest plan_request(const RunConfig& config, const DeviceModel& device, const std::string& continued);

/// What of a plan a run needs to go on, as JSON text.
std::string to_json(const Plan& plan);

/// The nominal model of what a run uses, or the one that a file describes: [device] with name, gpu and the
/// keys of device_model_entries(), others as nominal. Throws Error(invalid_input) naming line and key.
DeviceModel device_model(bool gpu, const std::optional<std::filesystem::path>& file);

}  // namespace spsolve
