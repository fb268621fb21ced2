// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <variant>
#include <vector>

#include "kernels/field.hpp"

namespace spsolve {

/// Locates the start of a box: a point of a field, or a byte offset into a buffer that holds the box row
/// after row.
using CopyPosition = std::variant<Index3, std::size_t>;

/// Transforms the values of a box for a reflection: `reversed` axes are read backwards and each value becomes
/// offset + scale * value. The default is a plain copy.
struct Reflection {
  std::array<bool, 3> reversed{};
  double scale = 1, offset = 0;

  bool is_copy() const { return *this == Reflection{}; }
  bool keeps_values() const { return scale == 1 && offset == 0; }
  double apply(double value) const { return scale == 0 ? offset : offset + scale * value; }
  friend bool operator==(const Reflection&, const Reflection&) = default;
  /// Returns the composition: `inner` is applied first.
  friend Reflection operator*(const Reflection& outer, const Reflection& inner) {
    Reflection both{inner.reversed, outer.scale * inner.scale, outer.offset + outer.scale * inner.offset};
    for (int axis = 0; axis < axis_count; ++axis) both.reversed[axis] ^= outer.reversed[axis];
    return both;
  }
};

/// Describes a box of points that is copied from one position to another, unchanged or reflected. At most one
/// of the positions is in the buffer.
struct BoxCopy {
  Index3 extent;
  CopyPosition from, to;
  Reflection reflection = {};
};

/// Copies boxes within fields of one geometry, and between such fields and a buffer, all in memory of one
/// kind. No copy reads what another copy writes.
class PreparedCopies {
 public:
  virtual ~PreparedCopies() = default;

  /// Makes the copies in `field` and `buffer`, which may be null if no copy has a position in it. On a device
  /// the work is only enqueued.
  virtual void copy(Field& field, std::byte* buffer) const = 0;
};

/// Prepares copies, and provides memory for their buffers, of the kind that the fields are in.
class Packer {
 public:
  virtual ~Packer() = default;

  /// Prepares copies for fields of the geometry and precision of `like`.
  virtual std::unique_ptr<PreparedCopies> prepare(std::vector<BoxCopy> copies, const Field& like) = 0;
  virtual Memory& memory() = 0;
};

/// Packs with the threads of this process.
class HostPacker : public Packer {
 public:
  std::unique_ptr<PreparedCopies> prepare(std::vector<BoxCopy> copies, const Field& like) override;
  Memory& memory() override { return host_memory(); }
};

}  // namespace spsolve
