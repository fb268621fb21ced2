// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "app/setup/device.hpp"
#include "app/setup/options.hpp"
#include "app/setup/terminal.hpp"

namespace spsolve {

/// Returns whether measure_layouts() belongs to the suite of a request: to `layouts`, and to `ablation`
/// unless the request names a grid or a method that its steps do not have.
bool has_layout_steps(const BenchRequest& request);

/// Measures how a stencil reaches tensor cores, step by step: in fp64 by im2row, stencil2row and natural
/// order (ConvStencil, figure 6), in fp16 by dense and strided-swap bands with their input in memory and
/// staged (SparStencil, figure 7; SPIDER, figure 12). `ablation` has only those in fp16. `keep` is called
/// with the row of each step when it is known. Throws Error(invalid_input) if the request has a shape or
/// there is no GPU of compute capability 8.0, Error(device_failure) if a step is wrong.
void measure_layouts(const BenchRequest& request, const DeviceChoice& device, const Terminal& terminal,
                     const std::function<void(nlohmann::ordered_json)>& keep);

}  // namespace spsolve
