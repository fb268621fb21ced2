// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "kernels/cuda/device.hpp"
#include "solver/backend.hpp"

namespace spsolve {

/// Copies of fields between a GPU and pinned host memory. Where it was prepared and the device has room for
/// that, what leaves is first copied on the device, which takes two passes of its memory, and then travels on
/// a stream of its own while computing goes on; otherwise computing waits until the field has left.
class CudaCopies {
 public:
  /// On the current device, of fields that are written on `compute`, which must outlive this.
  explicit CudaCopies(const cuda::Stream& compute);

  /// Host memory that a destroyed copy had is used again.
  std::shared_ptr<HostCopy> copy_out(const Field& field);
  /// Takes the memory of so many copies at a time, and room for one on the device if that leaves `reserve`
  /// bytes there.
  void prepare(const Field& field, int count, std::size_t reserve);
  /// Returns when the owned points of `field` are what `fill` sets.
  void set(Field& field, const FillField& fill);

 private:
  class Copy;
  std::shared_ptr<Copy> unused_copy(const Field& field);

  const cuda::Stream& compute_;
  cuda::Stream travel_;
  cuda::Event computed_, travelled_;
  cuda::DeviceMemory memory_;
  cuda::PinnedMemory pinned_;
  std::optional<Field> staging_;  // room for a copy on the device
  int device_ = 0;
  std::vector<std::shared_ptr<Copy>> copies_;
};

}  // namespace spsolve
