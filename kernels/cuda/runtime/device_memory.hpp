// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/runtime/device.hpp"
#include "kernels/error.hpp"
#include "kernels/memory.hpp"

namespace spsolve::cuda {

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

/// Allocates zeroed, page-locked host memory for a Field. Several threads touch its pages, because the system
/// takes long to provide them: most of the start of a run that writes files in the background.
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
