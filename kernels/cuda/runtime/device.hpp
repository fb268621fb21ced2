// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <source_location>
#include <string>

#include "kernels/cuda/runtime/block_limits.hpp"

namespace spsolve::cuda {

/// Throws Error(device_failure) unless `status` is success. The message names the source location of the
/// call, the CUDA status and its meaning.
void check_cuda(cudaError_t status, const std::source_location& place = std::source_location::current());

/// Returns the number of usable CUDA devices. It is 0 without a driver, with a driver that is too old, or
/// without a device; `why` then receives the reason.
int device_count(std::string* why = nullptr);

/// Holds the properties of a GPU as the driver reports them.
struct DeviceInfo {
  std::string name, pci_bus_id;
  int compute_capability = 0;  // 10 * major + minor
  int multiprocessors = 0;
  std::size_t shared_bytes_per_block = 0;
  std::size_t memory_bytes = 0;
  double memory_bandwidth = 0;  // bytes/s: clock of the memory, twice per cycle, times the width of its bus
  double clock = 0;             // Hz, of multiprocessors
  int driver_version = 0, runtime_version = 0;  // 1000 * major + 10 * minor

  /// Returns the architecture to compile for: sm_90a on compute capability 9.0, which enables TMA and wgmma,
  /// otherwise the plain sm_NN.
  std::string architecture() const;
  BlockLimits block_limits() const { return {compute_capability, shared_bytes_per_block, multiprocessors}; }
};
/// Returns the properties of a device. Throws Error(device_failure).
DeviceInfo device_info(int device);
/// Returns the properties of the device that is current in this thread.
DeviceInfo current_device();

/// Makes `device` the current device of this thread.
void select_device(int device);

}  // namespace spsolve::cuda
