// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "kernels/cuda/device.hpp"
#include "kernels/field.hpp"

namespace spsolve::testing {

/// For SetUp(): skips the test where there is no GPU.
inline void require_gpu() {
  std::string why;
  if (cuda::device_count(&why) == 0) GTEST_SKIP() << why;
}

/// Enqueues nothing: returns when the memory of `to` is that of `from`, halos and padding of rows included.
inline void copy_all(const Field& from, Field& to) {
  const Index3 begin = from.allocated().begin;
  const auto lead = reinterpret_cast<std::uintptr_t>(from.bytes_at(begin)) % 64;  // padding of the first row
  cuda::check_cuda(
      cudaMemcpy(to.bytes_at(begin), from.bytes_at(begin), from.bytes() - lead, cudaMemcpyDefault));
  cuda::check_cuda(cudaDeviceSynchronize());  // such copies may still be on their way when the call returns
}

inline Field to_device(const Field& host) {
  static cuda::DeviceMemory memory;
  Field device(host.owned(), host.halo(), host.precision(), memory);
  copy_all(host, device);
  return device;
}

inline Field to_host(const Field& device) {
  Field host(device.owned(), device.halo(), device.precision());
  copy_all(device, host);
  return host;
}

}  // namespace spsolve::testing
