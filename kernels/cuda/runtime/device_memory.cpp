// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/runtime/device_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <thread>

namespace spsolve::cuda {
namespace {

/// Reserves these bytes in front of pinned memory. They hold the size of the whole allocation.
constexpr std::size_t bytes_before = 4096;

/// Touches every page of new memory, so that the system provides it. Several threads share large memory.
void touch_pages(std::byte* memory, std::size_t bytes) {
  constexpr std::size_t page = 4096, bytes_of_thread = std::size_t{32} << 20;
  constexpr unsigned max_threads = 8;
  const auto touch = [=](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; i += page) *const_cast<volatile std::byte*>(memory + i) = {};
  };
  const auto threads =
      std::min({bytes / bytes_of_thread + 1, std::size_t{max_threads},
                static_cast<std::size_t>(std::max(1U, std::thread::hardware_concurrency()))});
  const std::size_t part = (bytes / threads / page + 1) * page;
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < threads; ++i)
    others.emplace_back(touch, std::min(i * part, bytes), std::min((i + 1) * part, bytes));
  touch(0, std::min(part, bytes));
}

}  // namespace

Error memory_error(int device, std::size_t bytes, const std::string& purpose, const std::string& there) {
  return Error(Status::device_failure, "GPU " + std::to_string(device) + " has not enough memory for " +
                                           purpose + ": " + std::to_string(bytes) + " bytes needed, " +
                                           there + "; use more ranks or a smaller grid");
}

void require_device_memory(std::size_t bytes, const std::string& purpose) {
  std::size_t free_bytes = 0, total_bytes = 0;
  check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes));
  if (bytes <= free_bytes) return;
  int device = 0;
  check_cuda(cudaGetDevice(&device));
  throw memory_error(device, bytes, purpose,
                     std::to_string(free_bytes) + " of " + std::to_string(total_bytes) + " free");
}

void* allocate_device(std::size_t bytes) {
  require_device_memory(bytes, "one allocation");
  void* memory = nullptr;
  check_cuda(cudaMalloc(&memory, bytes));
  return memory;
}

void free_device(void* memory) { cudaFree(memory); }

void* allocate_pinned(std::size_t bytes) {
  void* memory = nullptr;
  check_cuda(cudaMallocHost(&memory, bytes));
  return memory;
}

void free_pinned(void* memory) { cudaFreeHost(memory); }

std::byte* PinnedMemory::allocate(std::size_t bytes, std::size_t) {
  const std::size_t all = bytes + bytes_before;
  void* const pages = mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  madvise(pages, all, MADV_HUGEPAGE);  // fewer pages to lock
  touch_pages(static_cast<std::byte*>(pages), all);
  if (const cudaError_t status = cudaHostRegister(pages, all, cudaHostRegisterPortable);
      status != cudaSuccess) {
    munmap(pages, all);
    check_cuda(status);
  }
  std::memcpy(pages, &all, sizeof(all));
  return static_cast<std::byte*>(pages) + bytes_before;
}
void PinnedMemory::free(std::byte* memory) noexcept {
  std::byte* const pages = memory - bytes_before;
  std::size_t all = 0;
  std::memcpy(&all, pages, sizeof(all));
  cudaHostUnregister(pages);
  munmap(pages, all);
}

std::byte* DeviceMemory::allocate(std::size_t bytes, std::size_t) {
  void* memory = allocate_device(bytes);
  check_cuda(cudaMemset(memory, 0, bytes));
  check_cuda(cudaStreamSynchronize(
      nullptr));  // streams of fields are non-blocking: they do not wait for the default stream
  return static_cast<std::byte*>(memory);
}
void DeviceMemory::free(std::byte* memory) noexcept { free_device(memory); }

}  // namespace spsolve::cuda
