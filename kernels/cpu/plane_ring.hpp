// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cpu/aligned_array.hpp"
#include "kernels/domain.hpp"
#include "kernels/rounding.hpp"

namespace spsolve {

/// Keeps the newest planes of one intermediate time level of one tile in a ring buffer. Plane s replaces
/// plane s - planes. Rows lie `pitch()` elements apart, and x = `aligned_x` starts a cache line.
template <class T>
class PlaneRing {
 public:
  /// Allocates planes whose cross and x indices run over [begin, end).
  PlaneRing(std::int64_t planes, std::int64_t begin_cross, std::int64_t end_cross, std::int64_t begin_x,
            std::int64_t end_x, std::int64_t aligned_x)
      : planes_(planes),
        begin_cross_(begin_cross),
        rows_(end_cross - begin_cross),
        begin_x_(begin_x - wrap(begin_x - aligned_x, line)),
        pitch_(round_up(end_x - begin_x_, line)),
        memory_(planes_ * rows_ * pitch_) {}
  PlaneRing(PlaneRing&&) noexcept = default;

  std::int64_t planes() const { return planes_; }
  std::int64_t pitch() const { return pitch_; }
  std::int64_t plane_stride() const { return rows_ * pitch_; }

  /// Returns the address of x = 0 of a row, which may lie outside the memory.
  T* row(std::int64_t s, std::int64_t c) const {
    return memory_.begin() + ((wrap(s, planes_) * rows_ + c - begin_cross_) * pitch_ - begin_x_);
  }

 private:
  static constexpr auto line = static_cast<std::int64_t>(cache_line / sizeof(T));  // elements

  std::int64_t planes_, begin_cross_, rows_, begin_x_, pitch_;
  AlignedArray<T> memory_;
};

}  // namespace spsolve
