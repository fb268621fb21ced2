// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/stream.hpp"
#include "solver/backend.hpp"

namespace spsolve {

/// Copies fields between a GPU and pinned host memory. Points of a copy that prepare() has announced are
/// first kept on the device, if it has enough memory, and then transferred on a separate stream while
/// computation continues. Otherwise the sampling kernel writes to host memory, and computation waits for it.
class CudaCopies {
 public:
  /// Uses the current device and fields that are written on `compute`, which must outlive this object.
  explicit CudaCopies(const cuda::Stream& compute);

  /// Makes a copy of the owned points of a field. It reuses host memory of destroyed copies, or takes memory
  /// that prepare() has begun to allocate and waits until it is there.
  std::shared_ptr<HostCopy> make_copy(const Box& owned, const Sampling& sampling);
  /// Begins to allocate host memory for `count` simultaneous copies, on a thread of its own, because pinning
  /// memory takes long. The first of these copies that is used also allocates staging memory for one copy on
  /// the device, if at least `reserve` bytes stay free there. Copies of the same points and precision are
  /// prepared once.
  void prepare(const Box& owned, const Sampling& sampling, int count, std::size_t reserve);
  /// Sets the owned points of `field` to the values that `fill` sets. Returns when they have arrived.
  void set(Field& field, const FillField& fill);

 private:
  class Copy;
  struct Staging;
  /// Holds what prepare() was asked for.
  struct Prepared {
    Box box;
    Precision precision;
    std::size_t reserve;
    std::deque<std::future<std::shared_ptr<Copy>>> copies = {};  // that were never used
    bool is_staged = false;                                      // or was found to have no room
    std::shared_ptr<Staging> staging = nullptr;
    std::jthread maker = {};
  };
  Prepared* find_prepared(const Box& box, Precision precision);
  std::shared_ptr<Copy> unused_copy(const Box& box, Precision precision);

  const cuda::Stream& compute_;
  cuda::Stream travel_;
  cuda::DeviceMemory memory_;
  cuda::PinnedMemory pinned_;
  int device_ = 0;
  std::vector<std::shared_ptr<Copy>> copies_;
  std::deque<Prepared> prepared_;  // its threads use the others
};

}  // namespace spsolve
