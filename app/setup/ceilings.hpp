// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "app/setup/device.hpp"
#include "app/setup/terminal.hpp"
#include "kernels/ceilings.hpp"

namespace spsolve {

/// Measures the rates that the devices of this run can reach, per device: the mean over ranks that measure at
/// the same time. With CeilingScope::all also measures exchanges between devices if there are several. Prints
/// every rate as it is known. Collective.
Ceilings measure_ceilings(const Communicator& communicator, const DeviceChoice& device,
                          const ParallelConfig& parallel, CeilingScope scope, const Terminal& terminal);

nlohmann::ordered_json to_json(const Ceilings& ceilings);

/// Stores measured ceilings by the name of the device: $XDG_CACHE_HOME/spsolve/ceilings-<device>.json.
void remember(const Ceilings& ceilings);
/// Returns the ceilings measured last for devices of this kind, if they can be read.
std::optional<Ceilings> remembered_ceilings(const DeviceChoice& device);
/// Returns "copy 4071 GB/s, fma 57.8 Tflop/s in fp32 and 30.4 in fp64 (spsolve bench --suite ceilings)", or
/// how to measure.
std::string describe_ceilings(const DeviceChoice& device);

}  // namespace spsolve
