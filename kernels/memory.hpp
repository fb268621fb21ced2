// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

namespace spsolve {

/// Allocates the memory of fields, in this process or on a device.
class Memory {
 public:
  virtual ~Memory() = default;

  /// Allocates `bytes` bytes of zeros, aligned to 64. The memory holds rows of `row_bytes` each, plus a
  /// remainder.
  virtual std::byte* allocate(std::size_t bytes, std::size_t row_bytes) = 0;
  virtual void free(std::byte* memory) noexcept = 0;
};

/// Frees memory by the Memory that allocated it.
struct FreeMemory {
  Memory* memory;
  void operator()(std::byte* freed) const noexcept { memory->free(freed); }
};
/// Owns memory that is freed by the Memory which allocated it; the Memory must outlive it.
using OwnedMemory = std::unique_ptr<std::byte, FreeMemory>;

inline OwnedMemory allocate(Memory& memory, std::size_t bytes, std::size_t row_bytes) {
  return {memory.allocate(bytes, row_bytes), FreeMemory{&memory}};
}

/// Returns host memory. Each row is first touched by the thread that a static loop over rows assigns to it
/// (NUMA first touch).
Memory& host_memory();

}  // namespace spsolve
