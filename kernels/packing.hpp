// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <variant>
#include <vector>

#include "kernels/field.hpp"

namespace spsolve {

/// Where the points of a box begin: at a point of a field, or so many bytes into a buffer that holds them row
/// after row.
using Place = std::variant<Index3, std::size_t>;

/// A box of points that is copied from one place to another; never both in the buffer.
struct BoxCopy {
  Index3 extent;
  Place from, to;
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

  virtual std::unique_ptr<Packing> prepare(std::vector<BoxCopy> copies) = 0;
  virtual Memory& memory() = 0;
};

/// By threads of this process.
class HostPacker : public Packer {
 public:
  std::unique_ptr<Packing> prepare(std::vector<BoxCopy> copies) override;
  Memory& memory() override { return host_memory(); }
};

}  // namespace spsolve
