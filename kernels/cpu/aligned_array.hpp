// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace spsolve {

/// Is the length of a cache line in bytes.
constexpr std::int64_t cache_line = 64;

/// Allocates zeroed elements that begin a cache line.
template <class T>
class AlignedArray {
 public:
  explicit AlignedArray(std::int64_t elements)
      : memory_(static_cast<std::size_t>(elements) + cache_line / sizeof(T)) {
    void* first = memory_.data();
    std::size_t space = memory_.size() * sizeof(T);
    begin_ = static_cast<T*>(std::align(cache_line, space - cache_line, first, space));
  }
  AlignedArray(AlignedArray&&) noexcept = default;

  T* begin() const { return begin_; }

 private:
  std::vector<T> memory_;
  T* begin_;
};

}  // namespace spsolve
