// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "app/setup/device.hpp"
#include "app/setup/options.hpp"
#include "app/setup/terminal.hpp"

namespace spsolve {

/// Measures the steps of the worklog on sparse GEMM (kernels/cuda/ceilings/gemm_design.hpp), in fp16 and
/// e4m3, on the m x n x k of --shape. Results are checked first. `keep` gets a row for each step; with
/// compile_only each step is launched once and there are no rows. Throws Error without a GPU that has
/// wgmma.sp, for wrong results, and for other shapes than three extents.
void measure_gemm(const BenchRequest& request, const DeviceChoice& device, const Terminal& terminal,
                  const std::function<void(nlohmann::ordered_json)>& keep);

}  // namespace spsolve
