// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/cpu_tiles.hpp"
#include "kernels/cpu/plane_ring.hpp"
#include "kernels/field.hpp"
#include "kernels/rounding.hpp"

namespace spsolve {

/// Locates the rows of an array in memory: those of a whole field, or of the planes that a ring holds.
class ArrayRows {
 public:
  /// Locates the rows of a field.
  explicit ArrayRows(const Field& field)
      : origin_(const_cast<std::byte*>(field.bytes_at({0, 0, 0}))),
        plane_(field.strides()[z_axis] * static_cast<std::int64_t>(storage_bytes(field.precision()))),
        row_(field.strides()[y_axis] * static_cast<std::int64_t>(storage_bytes(field.precision()))) {}
  /// Locates the rows of a ring, whose planes follow one another along `axes.stream`.
  template <class T>
  ArrayRows(const PlaneRing<T>& ring, const Axes& axes)
      : origin_(reinterpret_cast<std::byte*>(ring.row(0, 0))),
        plane_((axes.stream == z_axis ? ring.plane_stride() : ring.pitch()) *
               static_cast<std::int64_t>(sizeof(T))),
        row_((axes.stream == y_axis ? ring.plane_stride() : ring.pitch()) *
             static_cast<std::int64_t>(sizeof(T))),
        ring_axis_(axes.stream),
        planes_(ring.planes()) {}

  /// Returns the address of x = 0 of the row {z, y}, which may lie outside the memory.
  std::byte* row(std::int64_t z, std::int64_t y) const {
    if (ring_axis_ == z_axis) z = wrap(z, planes_);
    if (ring_axis_ == y_axis) y = wrap(y, planes_);
    return origin_ + (z * plane_ + y * row_);
  }
  /// Returns the distance in bytes from each row to the next along y; 0 if it is not the same for all.
  std::int64_t pitch() const { return ring_axis_ == y_axis ? 0 : row_; }
  /// Returns the distance in bytes from each row to the next along z; 0 if it is not the same for all.
  std::int64_t plane_pitch() const { return ring_axis_ == z_axis ? 0 : plane_; }

 private:
  std::byte* origin_;
  std::int64_t plane_, row_;  // bytes
  int ring_axis_ = -1;        // -1: a field
  std::int64_t planes_ = 0;
};

}  // namespace spsolve
