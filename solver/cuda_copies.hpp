// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/cuda/runtime/device.hpp"
#include "solver/backend.hpp"

namespace spsolve {

/// Copies of fields between a GPU and pinned host memory. Where it was prepared and the device has room for
/// that, what leaves is first kept on the device and then travels on a stream of its own while computing goes
/// on; otherwise the pass that keeps it writes to host memory, and computing waits until that is done.
class CudaCopies {
 public:
  /// On the current device, of fields that are written on `compute`, which must outlive this.
  explicit CudaCopies(const cuda::Stream& compute);

  /// Of the owned points of a field. Host memory that a destroyed copy had is used again.
  std::shared_ptr<HostCopy> make_copy(const Box& owned, const Sampling& sampling);
  /// Takes the memory of so many such copies at a time, and room for one on the device if that leaves
  /// `reserve` bytes there.
  void prepare(const Box& owned, const Sampling& sampling, int count, std::size_t reserve);
  /// Returns when the owned points of `field` are what `fill` sets.
  void set(Field& field, const FillField& fill);

 private:
  class Copy;
  std::shared_ptr<Copy> unused_copy(const Box& box, Precision precision);

  const cuda::Stream& compute_;
  cuda::Stream travel_;
  cuda::DeviceMemory memory_;
  cuda::PinnedMemory pinned_;
  int device_ = 0;
  std::vector<std::shared_ptr<Copy>> copies_;
};

}  // namespace spsolve
