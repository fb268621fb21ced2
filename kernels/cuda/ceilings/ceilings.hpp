// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernels/ceilings.hpp"
#include "kernels/cuda/runtime/program.hpp"

namespace spsolve::cuda {

/// Rates of the current device: copies and fused multiply-adds; with CeilingScope::all also shared memory,
/// tensor cores of every type it has, dense and sparse, and on sm_90a the sparse GEMM of 4096 x 8192 x 8192.
/// `report` hears of each as it is known. Throws Error where the GEMM is wrong.
std::vector<Ceiling> measure_ceilings(const KernelCompiler& compiler, CeilingScope scope,
                                      const std::function<void(const Ceiling&)>& report);

/// What ceilings.cuh is compiled with for such a device: the constants.cuh of each rate, by its name.
std::map<std::string, std::string> ceiling_constants(int compute_capability);

}  // namespace spsolve::cuda
