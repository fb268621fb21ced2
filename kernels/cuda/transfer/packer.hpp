// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/program.hpp"
#include "kernels/cuda/transfer/pack_arguments.hpp"
#include "kernels/packing.hpp"

namespace spsolve::cuda {

/// Holds the work of a launch of pack.cuh (pack_arguments.hpp).
struct PackTable {
  std::vector<DeviceCopy> copies;
  std::vector<unsigned> first_pieces;
  unsigned pieces = 0;
};

/// Makes the table for boxes of fields with the geometry of `field`. Two boxes with the same rows become one
/// copy. Boxes of more than `max_points` become several: at most 2^29 points, so that 32 bits count the
/// items of two boxes widened to whole sectors.
PackTable pack_table(const std::vector<BoxCopy>& boxes, const Field& field,
                     std::int64_t max_points = std::int64_t{1} << 29);
/// Returns the number of blocks of a launch.
unsigned pack_blocks(unsigned pieces);

/// Copies boxes of fields in device memory; each call is one launch on `stream`. Buffers begin at multiples
/// of 16 bytes.
class DevicePacker : public Packer {
 public:
  /// `stream` must outlive the packer and the copies that it prepares.
  DevicePacker(cudaStream_t stream, const KernelCompiler& compiler);
  /// Uses the kernel of another packer.
  DevicePacker(cudaStream_t stream, const DevicePacker& other) : stream_(stream), kernel_(other.kernel_) {}

  std::unique_ptr<PreparedCopies> prepare(std::vector<BoxCopy> copies, const Field& like) override;
  Memory& memory() override { return memory_; }

 private:
  cudaStream_t stream_;
  std::shared_ptr<const Kernel> kernel_;
  DeviceMemory memory_;
};

}  // namespace spsolve::cuda
