// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <source_location>
#include <string>

#include "kernels/cuda/runtime/block_limits.hpp"
#include "kernels/error.hpp"
#include "kernels/memory.hpp"

namespace spsolve::cuda {

/// Throws Error(device_failure) that names the call's place, the CUDA status and its meaning.
void check_cuda(cudaError_t status, const std::source_location& place = std::source_location::current());

/// How many CUDA devices can be used; 0 without a driver, with one that is too old, or without a device.
/// `why` then says which.
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

  /// What NVRTC is told: sm_90a where TMA and wgmma are to be had, else the plain architecture.
  std::string architecture() const;
  BlockLimits block_limits() const { return {compute_capability, shared_bytes_per_block, multiprocessors}; }
};
DeviceInfo device_info(int device);
/// That of the device which this thread uses.
DeviceInfo current_device();

/// Makes `device` the one that this thread uses.
void select_device(int device);

class Stream {
 public:
  enum class Priority { low, normal, high };

  explicit Stream(Priority priority = Priority::normal);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return handle_; }
  /// Blocks until everything enqueued has run; errors of kernels surface here.
  void synchronize() const;

 private:
  cudaStream_t handle_ = nullptr;
};

/// A point in a stream; times differences where `timed`.
class Event {
 public:
  explicit Event(bool timed = false);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  operator cudaEvent_t() const { return handle_; }
  void record(cudaStream_t stream) const;
  /// The same; where the stream is being captured, whenever the graph runs, for the host to look at.
  void record_for_host(cudaStream_t stream) const;
  /// Whether what was recorded has come to pass; errors of kernels surface here.
  bool done() const;
  void synchronize() const;
  double seconds_since(const Event& start) const;

 private:
  cudaEvent_t handle_ = nullptr;
};

/// That a GPU has not the bytes needed for a purpose; `there` says how many it has.
Error memory_error(int device, std::size_t bytes, const std::string& purpose, const std::string& there);

/// Throws Error(device_failure) with needed and free bytes unless the current device has that much memory.
void require_device_memory(std::size_t bytes, const std::string& purpose);

/// Memory that is not initialised, owned; `allocate` throws where there is not enough.
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

/// Memory of the current device; the Error names needed and free bytes if there is not enough.
void* allocate_device(std::size_t bytes);
void free_device(void* memory);
using DeviceBuffer = Buffer<allocate_device, free_device>;

/// Page-locked host memory: copies to and from the device are fast and asynchronous.
void* allocate_pinned(std::size_t bytes);
void free_pinned(void* memory);
using PinnedBuffer = Buffer<allocate_pinned, free_pinned>;

/// Page-locked host memory, for a Field.
class PinnedMemory : public Memory {
 public:
  std::byte* allocate(std::size_t bytes, std::size_t row_bytes) override;
  void free(std::byte* memory) noexcept override;
};

/// Memory of the current device, for a Field.
class DeviceMemory : public Memory {
 public:
  std::byte* allocate(std::size_t bytes, std::size_t row_bytes) override;
  void free(std::byte* memory) noexcept override;
};

}  // namespace spsolve::cuda
