// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

namespace spsolve {

/// Where the memory of a field comes from: this process, or a device.
class Memory {
 public:
  virtual ~Memory() = default;

  /// `bytes` bytes of zeros, aligned to 64. They are the rows of a field, `row_bytes` each, and what is left
  /// over.
  virtual std::byte* allocate(std::size_t bytes, std::size_t row_bytes) = 0;
  virtual void free(std::byte* memory) noexcept = 0;
};

struct FreeMemory {
  Memory* memory;
  void operator()(std::byte* freed) const noexcept { memory->free(freed); }
};
/// What a Memory has allocated; the Memory must outlive it.
using OwnedMemory = std::unique_ptr<std::byte, FreeMemory>;

inline OwnedMemory allocate(Memory& memory, std::size_t bytes, std::size_t row_bytes) {
  return {memory.allocate(bytes, row_bytes), FreeMemory{&memory}};
}

/// Host memory, each row first touched by the thread that a static loop over rows gives it to (NUMA first
/// touch).
Memory& host_memory();

}  // namespace spsolve
