// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/runtime/device.hpp"

#include <array>

#include "kernels/error.hpp"

namespace spsolve::cuda {
namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

void check_cuda(cudaError_t status, const std::source_location& place) {
  if (status == cudaSuccess) return;
  throw Error(Status::device_failure, std::string(place.file_name()) + ":" + std::to_string(place.line()) +
                                          " " + place.function_name() + ": CUDA says " +
                                          cudaGetErrorName(status) + ", " + cudaGetErrorString(status));
}

int device_count(std::string* why) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  cudaGetLastError();
  if (status == cudaSuccess && count > 0) return count;
  if (why) {
    int driver = 0;
    cudaDriverGetVersion(&driver);
    *why = driver == 0 ? "no NVIDIA driver was found"
           : status == cudaErrorInsufficientDriver
               ? "the NVIDIA driver supports CUDA " + version_text(driver) + ", this build needs " +
                     version_text(CUDART_VERSION)
           : status == cudaSuccess || status == cudaErrorNoDevice
               ? "the driver shows no device (see CUDA_VISIBLE_DEVICES)"
               : std::string("CUDA says ") + cudaGetErrorString(status);
  }
  return 0;
}

std::string DeviceInfo::architecture() const {
  return "sm_" + std::to_string(compute_capability) + (compute_capability == 90 ? "a" : "");
}

DeviceInfo device_info(int device) {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, device));
  DeviceInfo info;
  info.name = properties.name;
  std::array<char, 32> bus{};
  check_cuda(cudaDeviceGetPCIBusId(bus.data(), bus.size(), device));
  info.pci_bus_id = bus.data();
  info.compute_capability = 10 * properties.major + properties.minor;
  info.multiprocessors = properties.multiProcessorCount;
  info.shared_bytes_per_block = properties.sharedMemPerBlockOptin;
  info.memory_bytes = properties.totalGlobalMem;
  const auto attribute = [&](cudaDeviceAttr name) {
    int value = 0;
    check_cuda(cudaDeviceGetAttribute(&value, name, device));
    return static_cast<double>(value);
  };
  info.memory_bandwidth =
      2e3 * attribute(cudaDevAttrMemoryClockRate) * attribute(cudaDevAttrGlobalMemoryBusWidth) / 8;
  info.clock = 1e3 * attribute(cudaDevAttrClockRate);
  check_cuda(cudaDriverGetVersion(&info.driver_version));
  check_cuda(cudaRuntimeGetVersion(&info.runtime_version));
  return info;
}

DeviceInfo current_device() {
  int device = 0;
  check_cuda(cudaGetDevice(&device));
  return device_info(device);
}

void select_device(int device) { check_cuda(cudaSetDevice(device)); }

}  // namespace spsolve::cuda
