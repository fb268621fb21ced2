// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/cuda/runtime/device.hpp"
#include "solver/backend.hpp"

namespace spsolve {

/// Copies fields between a GPU and pinned host memory. If prepare() found enough device memory, sampled
/// points are first kept on the device and then transferred on a separate stream while computation continues.
/// Otherwise the sampling kernel writes to host memory, and computation waits for it.
class CudaCopies {
 public:
  /// Uses the current device and fields that are written on `compute`, which must outlive this object.
  explicit CudaCopies(const cuda::Stream& compute);

  /// Makes a copy of the owned points of a field. It reuses host memory of destroyed copies, and shares the
  /// staging memory of copies of the same points.
  std::shared_ptr<HostCopy> make_copy(const Box& owned, const Sampling& sampling);
  /// Allocates host memory for `count` simultaneous copies, and staging memory for one on the device if at
  /// least `reserve` bytes stay free there.
  void prepare(const Box& owned, const Sampling& sampling, int count, std::size_t reserve);
  /// Sets the owned points of `field` to the values that `fill` sets. Returns when they have arrived.
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
