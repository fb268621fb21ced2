// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "kernels/cuda/device.hpp"
#include "solver/backend.hpp"

namespace spsolve {

/// Copies of fields between a GPU and pinned host memory. What leaves the device is first copied on it, which
/// takes two passes of its memory, then travels on a stream of its own while computing goes on; where the
/// device has no room for that, computing waits until the field has left.
class CudaCopies {
 public:
  /// On the current device, of fields that are written on `compute`, which must outlive this.
  explicit CudaCopies(const cuda::Stream& compute);

  /// Host memory that a destroyed copy had is used again.
  std::shared_ptr<HostCopy> copy_out(const Field& field);
  /// Takes the memory of so many copies at a time.
  void prepare(const Field& field, int count);
  /// Returns when the owned points of `field` are what `fill` sets.
  void set(Field& field, const FillField& fill);

 private:
  class Copy;
  std::shared_ptr<Copy> unused_copy(const Field& field);
  /// Room for a copy of `field` on the device; null if there is none.
  Field* staging(const Field& field);

  const cuda::Stream& compute_;
  cuda::Stream travel_;
  cuda::Event computed_, travelled_;
  cuda::DeviceMemory memory_;
  cuda::PinnedMemory pinned_;
  std::optional<Field> staging_;
  bool no_room_ = false;
  int device_ = 0;
  std::vector<std::shared_ptr<Copy>> copies_;
};

}  // namespace spsolve
