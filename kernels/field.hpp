// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "kernels/box.hpp"
#include "kernels/memory.hpp"
#include "kernels/precision.hpp"

namespace spsolve {

/// One rank's block of the grid with its halo, in storage precision. x is contiguous; rows start at `pitch()`
/// elements from each other, aligned to 64 bytes at the first owned point. Owns its memory; move-only.
class Field {
 public:
  /// Memory for `owned` grown by `halo` points on every side; every element is zero. `memory`
  /// must outlive the field. Throws std::bad_alloc, or what `memory` throws.
  Field(const Box& owned, const Index3& halo, Precision precision, Memory& memory = host_memory());

  const Box& owned() const { return owned_; }
  /// owned() grown by the halo: every point that has memory.
  Box allocated() const { return grow(owned_, halo_); }
  const Index3& halo() const { return halo_; }
  Precision precision() const { return precision_; }

  /// Distance in elements between neighbours on each axis; the last is 1.
  const Index3& strides() const { return strides_; }
  std::int64_t pitch() const { return strides_[y_axis]; }

  /// Address of a point (global coordinates, inside allocated()). Storage must be the type of precision().
  /// The address is one of the Memory that the field was made with.
  template <class Storage>
  Storage* at(const Index3& p) {
    return reinterpret_cast<Storage*>(memory_.get()) + offset(p);
  }
  template <class Storage>
  const Storage* at(const Index3& p) const {
    return reinterpret_cast<const Storage*>(memory_.get()) + offset(p);
  }

  /// The same without the type.
  std::byte* bytes_at(const Index3& p) { return memory_.get() + offset(p) * element_; }
  const std::byte* bytes_at(const Index3& p) const { return memory_.get() + offset(p) * element_; }

  /// Of the points, padding included.
  std::size_t bytes() const { return bytes_; }

  /// Room for what no magnitude() of a point exceeds, for those who scale what they read by it; zero at
  /// first. Whoever writes points says whether this is kept.
  int* largest() { return reinterpret_cast<int*>(memory_.get() + bytes_); }
  const int* largest() const { return reinterpret_cast<const int*>(memory_.get() + bytes_); }

 private:
  std::int64_t offset(const Index3& p) const {
    return lead_ + (p[0] - owned_.begin[0] + halo_[0]) * strides_[0] +
           (p[1] - owned_.begin[1] + halo_[1]) * strides_[1] + (p[2] - owned_.begin[2] + halo_[2]);
  }

  Box owned_;
  Index3 halo_;
  Precision precision_;
  std::int64_t element_;  // bytes
  Index3 strides_{};
  std::int64_t lead_ = 0;  // elements before a row's first halo point, so that its first owned one is aligned
  std::size_t bytes_ = 0;
  OwnedMemory memory_;
};

/// Elements from one row to the next of rows of so many: whole lines of 64 bytes, and not whole KiB, so that
/// rows one below the other lie in different channels of memory.
std::int64_t row_pitch(std::int64_t elements, std::int64_t element_bytes);

/// Bytes that a Field of these parameters takes.
std::size_t field_bytes(const Index3& owned_extent, const Index3& halo, Precision precision);

}  // namespace spsolve
