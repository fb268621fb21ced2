// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernels/ceilings.hpp"
#include "kernels/cuda/runtime/program.hpp"

namespace spsolve::cuda {

/// Measures rates of the current device: copies and fused multiply-adds; with CeilingScope::all also shared
/// memory, tensor cores for every type that the device has (dense and sparse), and on sm_90a a sparse GEMM of
/// 4096 x 8192 x 8192. `report` is called with each rate when it is known. Throws Error if the GEMM is wrong.
std::vector<Ceiling> measure_ceilings(const KernelCompiler& compiler, CeilingScope scope,
                                      const std::function<void(const Ceiling&)>& report);

/// Returns the constants.cuh of each rate of devices of this compute capability, by name.
std::map<std::string, std::string> ceiling_constants(int compute_capability);

}  // namespace spsolve::cuda
