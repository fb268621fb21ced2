// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "app/setup/terminal.hpp"
#include "halo/communicator.hpp"
#include "io/input/config.hpp"
#include "solver/plan/device_model.hpp"

namespace spsolve {

/// Returns the nominal GPU if an input insists on GPUs and there are none, because inputs are checked on
/// login nodes, too. Collective.
std::optional<DeviceModel> stand_in(const Communicator& communicator, const RunConfig& config,
                                    const Terminal& terminal);

}  // namespace spsolve
