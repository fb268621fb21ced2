// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/box.hpp"
#include "kernels/memory.hpp"
#include "kernels/precision.hpp"

namespace spsolve {

/// Holds one rank's block of the grid with its halo, in storage precision. x is contiguous. Rows start
/// `pitch()` elements apart, and the first owned point of each row is aligned to 64 bytes. A field owns its
/// memory and is move-only.
class Field {
 public:
  /// Allocates zeroed memory for `owned` grown by `halo` points on every side. `memory` must outlive the
  /// field. Throws std::bad_alloc, or what `memory` throws.
  Field(const Box& owned, const Index3& halo, Precision precision, Memory& memory = host_memory());
  /// Does the same, but aligns rows at column `aligned` instead of the first owned one. Fields that are read
  /// together are aligned at the same column.
  Field(const Box& owned, const Index3& halo, Precision precision, Memory& memory, std::int64_t aligned);

  const Box& owned() const { return owned_; }
  /// Returns a column at which rows are aligned to 64 bytes.
  std::int64_t aligned_column() const { return aligned_; }
  /// Returns owned() grown by the halo: all points that have memory.
  Box allocated() const { return grow(owned_, halo_); }
  const Index3& halo() const { return halo_; }
  Precision precision() const { return precision_; }

  /// Returns the distance in elements between neighbours on each axis; the last is 1.
  const Index3& strides() const { return strides_; }
  std::int64_t pitch() const { return strides_[y_axis]; }

  /// Returns the address of a point in global coordinates, which must lie inside allocated(). Storage must be
  /// the type of precision(). The address is valid on the device of the Memory that the field was made with.
  template <class Storage>
  Storage* at(const Index3& p) {
    return reinterpret_cast<Storage*>(memory_.get()) + offset(p);
  }
  template <class Storage>
  const Storage* at(const Index3& p) const {
    return reinterpret_cast<const Storage*>(memory_.get()) + offset(p);
  }

  /// Returns the address of a point as at() does, without the type.
  std::byte* bytes_at(const Index3& p) { return memory_.get() + offset(p) * element_; }
  const std::byte* bytes_at(const Index3& p) const { return memory_.get() + offset(p) * element_; }

  /// Returns the size of all points in bytes, padding included.
  std::size_t bytes() const { return bytes_; }

  /// Returns the address of an upper bound of magnitude() over all points, which is kept with the field for
  /// kernels that scale the data they read. The bound is zero at first. Functions that write points say
  /// whether they update the bound.
  int* magnitude_bound() { return reinterpret_cast<int*>(memory_.get() + bytes_); }
  const int* magnitude_bound() const { return reinterpret_cast<const int*>(memory_.get() + bytes_); }

 private:
  std::int64_t offset(const Index3& p) const {
    return lead_ + (p[0] - owned_.begin[0] + halo_[0]) * strides_[0] +
           (p[1] - owned_.begin[1] + halo_[1]) * strides_[1] + (p[2] - owned_.begin[2] + halo_[2]);
  }

  Box owned_;
  Index3 halo_;
  std::int64_t aligned_ = 0;
  Precision precision_;
  std::int64_t element_;  // bytes
  Index3 strides_{};
  std::int64_t lead_ = 0;  // padding at the start of a row that aligns it
  std::size_t bytes_ = 0;
  OwnedMemory memory_;
};

/// Returns the distance in elements between rows of `elements` elements. It is a multiple of 64 bytes but not
/// of 1 KiB, so that rows with the same x range use different memory channels.
std::int64_t row_pitch(std::int64_t elements, std::int64_t element_bytes);

/// Return the bytes that a Field with these parameters allocates. The second has no halo, and its rows are
/// aligned at column `aligned`.
std::size_t field_bytes(const Index3& owned_extent, const Index3& halo, Precision precision);
std::size_t field_bytes(const Box& owned, Precision precision, std::int64_t aligned);

}  // namespace spsolve
