// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/program.hpp"
#include "kernels/packing.hpp"

namespace spsolve::cuda {

/// Packs boxes of fields in device memory, each call one launch on `stream`.
class DevicePacker : public Packer {
 public:
  /// `stream` must outlive the packer and what it prepares.
  explicit DevicePacker(cudaStream_t stream, const KernelCompiler& compiler);

  std::unique_ptr<Packing> prepare(std::vector<PackedBox> boxes, Precision precision) override;
  Memory& memory() override { return memory_; }

 private:
  struct Kernels {
    Kernel pack, unpack;
  };
  friend class DevicePacking;

  cudaStream_t stream_;
  std::array<Kernels, 3> kernels_;  // by log2 of the element's bytes, from 2 on
  DeviceMemory memory_;
};

}  // namespace spsolve::cuda
