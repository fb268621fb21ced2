// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/program.hpp"
#include "kernels/packing.hpp"

namespace spsolve::cuda {

/// Copies boxes of fields in device memory, each call one launch on `stream`. Buffers begin at multiples of
/// 16 bytes.
class DevicePacker : public Packer {
 public:
  /// `stream` must outlive the packer and what it prepares.
  DevicePacker(cudaStream_t stream, const KernelCompiler& compiler);
  /// With the kernel of another packer.
  DevicePacker(cudaStream_t stream, const DevicePacker& other) : stream_(stream), kernel_(other.kernel_) {}

  std::unique_ptr<Packing> prepare(std::vector<BoxCopy> copies, Precision precision) override;
  Memory& memory() override { return memory_; }

 private:
  cudaStream_t stream_;
  std::shared_ptr<const Kernel> kernel_;
  DeviceMemory memory_;
};

}  // namespace spsolve::cuda
