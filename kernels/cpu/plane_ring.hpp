// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cpu/aligned_array.hpp"
#include "kernels/cpu/cpu_tiles.hpp"
#include "kernels/rounding.hpp"

namespace spsolve {

/// Keeps the newest planes of one intermediate time level of one tile in a ring buffer. Plane s replaces
/// plane s - planes. Rows lie `pitch()` elements apart, and x = `aligned_x` starts a cache line.
template <class T>
class PlaneRing {
 public:
  /// Allocates planes that hold the rows of `box`, with `ghosts` more points at both ends of each row.
  PlaneRing(std::int64_t planes, const Axes& axes, const Box& box, std::int64_t ghosts,
            std::int64_t aligned_x)
      : planes_(planes),
        begin_cross_(box.begin[axes.cross]),
        rows_(box.extent()[axes.cross]),
        begin_x_(box.begin[x_axis] - ghosts - wrap(box.begin[x_axis] - ghosts - aligned_x, line)),
        pitch_(round_up(box.end[x_axis] + ghosts - begin_x_, line)),
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
