// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <source_location>
#include <string>

#include "kernels/cuda/runtime/device.hpp"
#include "kernels/error.hpp"

namespace spsolve::cuda {

/// Returns the driver function `name` in the form that CUDA `version` (1000 * major + 10 * minor) defines. It
/// is found through the runtime, so nothing is linked against libcuda. Throws Error if the driver is too old.
template <class Function>
Function driver_function(const char* name, unsigned version = 12000) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check_cuda(cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess)
    throw Error(Status::device_failure, "the NVIDIA driver has no " + std::string(name) +
                                            "; a driver of CUDA " + std::to_string(version / 1000) +
                                            " or newer is needed");
  return reinterpret_cast<Function>(function);
}

/// Throws Error unless a call of a driver function has succeeded.
inline void check_driver(CUresult result,
                         const std::source_location& where = std::source_location::current()) {
  if (result == CUDA_SUCCESS) return;
  throw Error(Status::device_failure, std::string(where.file_name()) + ":" + std::to_string(where.line()) +
                                          ": the NVIDIA driver fails with status " + std::to_string(result));
}

}  // namespace spsolve::cuda
