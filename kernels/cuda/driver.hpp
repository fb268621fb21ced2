// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "kernels/cuda/device.hpp"
#include "kernels/error.hpp"

namespace spsolve::cuda {

/// A function of the driver as CUDA `version` (1000 * major + 10 * minor) has it, found through the runtime:
/// nothing is linked against libcuda.
template <class Function>
Function driver_function(const char* name, unsigned version = 12000) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check_cuda(cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess)
    throw Error(Status::device_failure, "the NVIDIA driver has no " + std::string(name) + "; that of CUDA " +
                                            std::to_string(version / 1000) + " or newer is wanted");
  return reinterpret_cast<Function>(function);
}

}  // namespace spsolve::cuda
