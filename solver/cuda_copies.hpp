// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/stream.hpp"
#include "solver/backend.hpp"

namespace spsolve {

/// Copies fields between a GPU and the host. Copies that prepare() has made on the device stay there: threads
/// read their points through small windows of pinned memory while computation continues. Copies in host
/// memory are staged if the device has memory for one of them: the sampling kernel writes there, and the
/// values then travel to pinned memory as a whole. Without that memory the kernel writes to pinned memory,
/// and computation waits for it.
class CudaCopies {
 public:
  /// Uses the current device and fields that are written on `compute`, which must outlive this object.
  explicit CudaCopies(const cuda::Stream& compute);
  ~CudaCopies();

  /// Makes a copy of the owned points of a field. It reuses memory of destroyed copies, first on the device,
  /// or takes host memory that prepare() has begun to allocate and waits until it is there.
  std::shared_ptr<HostCopy> make_copy(const Box& owned, const Sampling& sampling);
  /// Allocates memory for `count` simultaneous copies: `on_device` at once, otherwise host memory on a thread
  /// of its own, because pinning memory takes long. The first copy in host memory that is used allocates
  /// staging memory on the device, if memory_for_copies(reserve) suffices. Copies of the same points and
  /// precision are prepared once.
  void prepare(const Box& owned, const Sampling& sampling, int count, std::size_t reserve, bool on_device);
  /// Returns how many bytes of the current device copies may take so that `reserve` bytes stay free, besides
  /// some for CUDA and NCCL.
  static std::size_t memory_for_copies(std::size_t reserve);
  /// Sets the owned points of `field` to the values that `fill` sets. Returns when they have arrived.
  void set(Field& field, const FillField& fill);

 private:
  class Copy;
  class TakenWindow;
  struct Staging;
  struct PinnedWindow;
  enum class Location { host, device };
  /// Holds what prepare() was asked for.
  struct Prepared {
    Box box;
    Precision precision;
    std::size_t reserve;
    std::deque<std::future<std::shared_ptr<Copy>>> copies = {};  // copies that were never used
    bool is_staged = false;  // memory for `staging` was asked for, even if in vain
    std::shared_ptr<Staging> staging = nullptr;
    std::jthread maker = {};
  };
  Prepared* find_prepared(const Box& box, Precision precision);
  /// Returns a copy that nothing uses, or null.
  std::shared_ptr<Copy> unused_copy(const Box& box, Precision precision, Location location) const;
  /// Returns an unused copy in host memory: a former one, a prepared one or a new one.
  std::shared_ptr<Copy> host_copy(const Box& box, Precision precision);
  std::unique_ptr<PinnedWindow> take_window();
  void give_back(std::unique_ptr<PinnedWindow> window) noexcept;

  const cuda::Stream& compute_;
  cuda::Stream travel_;
  cuda::DeviceMemory memory_;
  cuda::PinnedMemory pinned_;
  int device_ = 0;
  std::mutex windows_mutex_;
  std::size_t windows_ = 0;  // windows made so far; guarded by `windows_mutex_`
  std::vector<std::unique_ptr<PinnedWindow>> unused_windows_;  // guarded by `windows_mutex_`
  std::vector<std::shared_ptr<Copy>> copies_;
  std::deque<Prepared> prepared_;  // its threads use the others
};

}  // namespace spsolve
