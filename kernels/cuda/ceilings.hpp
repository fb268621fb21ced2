// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/ceilings.hpp"
#include "kernels/cuda/program.hpp"

namespace spsolve::cuda {

/// Rates of the current device: copies and fused multiply-adds; with CeilingScope::all also shared memory,
/// tensor cores of every type it has, dense and sparse, and on sm_90a the sparse GEMM of 4096 x 8192 x 8192.
/// `report` hears of each as it is known. Throws Error where the GEMM is wrong.
std::vector<Ceiling> measure_ceilings(const KernelCompiler& compiler, CeilingScope scope,
                                      const std::function<void(const Ceiling&)>& report);

/// What ceilings.cuh can be compiled for on such a device: enumerators of Instruction; and the constants.cuh
/// of one.
std::vector<std::string> ceiling_instructions(int compute_capability);
std::string ceiling_constants(const std::string& instruction);

}  // namespace spsolve::cuda
