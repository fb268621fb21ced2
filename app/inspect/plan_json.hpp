// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "app/setup/setup.hpp"

namespace spsolve {

/// Returns a plan as the text of a JSON file: the device with its bandwidth, the chosen candidate, every
/// candidate with its seconds per point and step by parts and the numbers of model_of(), and every method
/// that was left out with the obstacle and the reason.
std::string plan_json(const Setup& setup, const DeviceModel& device);

}  // namespace spsolve
