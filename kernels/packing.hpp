// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <variant>
#include <vector>

#include "kernels/field.hpp"

namespace spsolve {

/// Where the points of a box begin: at a point of a field, or so many bytes into a buffer that holds them row
/// after row.
using Place = std::variant<Index3, std::size_t>;

/// How an image of points comes from them: mirrored along some axes, offset + scale * value.
struct Image {
  std::array<bool, 3> mirrored{};
  double scale = 1, offset = 0;

  bool is_copy() const { return *this == Image{}; }
  bool keeps_values() const { return scale == 1 && offset == 0; }
  double of(double value) const { return scale == 0 ? offset : offset + scale * value; }
  friend bool operator==(const Image&, const Image&) = default;
  /// The image of an image.
  friend Image operator*(const Image& outer, const Image& inner) {
    Image both{inner.mirrored, outer.scale * inner.scale, outer.offset + outer.scale * inner.offset};
    for (int axis = 0; axis < axis_count; ++axis) both.mirrored[axis] ^= outer.mirrored[axis];
    return both;
  }
};

/// A box of points that is copied from one place to another, as it is or as an image; never both in the
/// buffer.
struct BoxCopy {
  Index3 extent;
  Place from, to;
  Image image = {};
};

/// Copies boxes within fields of one geometry, and between them and a buffer, all in memory of one kind. No
/// copy reads what another one writes.
class Packing {
 public:
  virtual ~Packing() = default;

  virtual void copy(Field& field, std::byte* buffer) const = 0;
};

/// Makes packings, and memory for their buffers, of the kind that fields are in.
class Packer {
 public:
  virtual ~Packer() = default;

  /// For fields of the geometry and precision of this one.
  virtual std::unique_ptr<Packing> prepare(std::vector<BoxCopy> copies, const Field& like) = 0;
  virtual Memory& memory() = 0;
};

/// By threads of this process.
class HostPacker : public Packer {
 public:
  std::unique_ptr<Packing> prepare(std::vector<BoxCopy> copies, const Field& like) override;
  Memory& memory() override { return host_memory(); }
};

}  // namespace spsolve
