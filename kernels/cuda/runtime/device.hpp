// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include "kernels/cuda/runtime/block_limits.hpp"
#include "kernels/error.hpp"
#include "kernels/memory.hpp"

namespace spsolve::cuda {

/// Throws Error(device_failure) unless `status` is success. The message names the source location of the
/// call, the CUDA status and its meaning.
void check_cuda(cudaError_t status, const std::source_location& place = std::source_location::current());

/// Returns the number of usable CUDA devices. It is 0 without a driver, with a driver that is too old, or
/// without a device; `why` then receives the reason.
int device_count(std::string* why = nullptr);

struct DeviceInfo {
  std::string name, pci_bus_id;
  int compute_capability = 0;  // 10 * major + minor
  int multiprocessors = 0;
  std::size_t shared_bytes_per_block = 0;
  std::size_t memory_bytes = 0;
  double memory_bandwidth = 0;  // bytes/s: clock of the memory, twice per cycle, times the width of its bus
  double clock = 0;             // Hz, of multiprocessors
  int driver_version = 0, runtime_version = 0;  // 1000 * major + 10 * minor

  /// Returns the architecture to compile for: sm_90a on compute capability 9.0, which enables TMA and wgmma,
  /// otherwise the plain sm_NN.
  std::string architecture() const;
  BlockLimits block_limits() const { return {compute_capability, shared_bytes_per_block, multiprocessors}; }
};
DeviceInfo device_info(int device);
/// Returns the properties of the device that is current in this thread.
DeviceInfo current_device();

/// Makes `device` the current device of this thread.
void select_device(int device);

class Stream {
 public:
  enum class Priority { low, normal, high };

  explicit Stream(Priority priority = Priority::normal);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return handle_; }
  /// Blocks until everything enqueued has run. Throws Error if a kernel failed.
  void synchronize() const;

 private:
  cudaStream_t handle_ = nullptr;
};

/// Marks a point in a stream. Elapsed times can be measured only if it was created with `timed`.
class Event {
 public:
  explicit Event(bool timed = false);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  operator cudaEvent_t() const { return handle_; }
  void record(cudaStream_t stream) const;
  /// Records the event so that the host can query it. If the stream is being captured, the event is recorded
  /// whenever the graph runs.
  void record_for_host(cudaStream_t stream) const;
  /// Returns true if all work before the recorded point has finished. Throws Error if a kernel failed.
  bool done() const;
  void synchronize() const;
  /// Returns the seconds between `start` and this event; both must be timed.
  double seconds_since(const Event& start) const;

 private:
  cudaEvent_t handle_ = nullptr;
};

/// Returns the Error for a GPU without enough memory for a purpose; `there` says how many bytes it has.
Error memory_error(int device, std::size_t bytes, const std::string& purpose, const std::string& there);

/// Throws Error(device_failure), with needed and free bytes, unless the current device has that much free
/// memory.
void require_device_memory(std::size_t bytes, const std::string& purpose);

/// Owns uninitialised memory. `allocate` throws if there is not enough.
template <void* (*allocate)(std::size_t bytes), void (*release)(void* memory)>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes) : memory_(allocate(bytes)), bytes_(bytes) {}
  void* data() const { return memory_.get(); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(void* memory) const { release(memory); }
  };
  std::unique_ptr<void, Free> memory_;
  std::size_t bytes_ = 0;
};

/// Allocates memory of the current device. If there is not enough, the Error names the needed and the free
/// bytes.
void* allocate_device(std::size_t bytes);
void free_device(void* memory);
using DeviceBuffer = Buffer<allocate_device, free_device>;

/// Copies values to memory of the current device; the transfer is enqueued on `stream`.
template <class T>
DeviceBuffer to_device(const std::vector<T>& values, cudaStream_t stream) {
  if (values.empty()) return {};
  DeviceBuffer buffer(values.size() * sizeof(T));
  check_cuda(cudaMemcpyAsync(buffer.data(), values.data(), buffer.bytes(), cudaMemcpyHostToDevice, stream));
  return buffer;
}

/// Allocates page-locked host memory, with which copies to and from the device are fast and asynchronous.
void* allocate_pinned(std::size_t bytes);
void free_pinned(void* memory);
using PinnedBuffer = Buffer<allocate_pinned, free_pinned>;

/// Allocates zeroed, page-locked host memory for a Field. Several threads make its pages: that takes longest
/// of what precedes a run that writes files in the background.
class PinnedMemory : public Memory {
 public:
  std::byte* allocate(std::size_t bytes, std::size_t row_bytes) override;
  void free(std::byte* memory) noexcept override;
};

/// Allocates zeroed memory of the current device for a Field.
class DeviceMemory : public Memory {
 public:
  std::byte* allocate(std::size_t bytes, std::size_t row_bytes) override;
  void free(std::byte* memory) noexcept override;
};

}  // namespace spsolve::cuda
