// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "app/setup/device.hpp"
#include "app/setup/terminal.hpp"
#include "kernels/ceilings.hpp"

namespace spsolve {

/// Returns what the devices of this run can do, per device: the mean over ranks that measure at the same
/// time; with CeilingScope::all also exchanges between them where there are several. Prints every rate as it
/// is known. Collective.
Ceilings measure_ceilings(const Communicator& communicator, const DeviceChoice& device,
                          const ParallelConfig& parallel, CeilingScope scope, const Terminal& terminal);

nlohmann::ordered_json to_json(const Ceilings& ceilings);

/// Remembers what was measured, by the name of the device: $XDG_CACHE_HOME/spsolve/ceilings-<device>.json.
void remember(const Ceilings& ceilings);
/// Returns what was measured last for devices of this kind, if anything that can be read.
std::optional<Ceilings> remembered_ceilings(const DeviceChoice& device);
/// "copy 4071 GB/s, fma 57.8 Tflop/s in fp32 and 30.4 in fp64 (spsolve bench --suite ceilings)", or how to
/// measure.
std::string describe_ceilings(const DeviceChoice& device);

}  // namespace spsolve
