// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/field.hpp"

namespace spsolve {

/// A box of a field and where its points lie, row after row, in a contiguous buffer.
struct PackedBox {
  Box box;
  std::size_t offset = 0;  // bytes
};

/// Copies some boxes of fields of one geometry into a buffer, or back. Fields and buffer are in memory of one
/// kind.
class Packing {
 public:
  virtual ~Packing() = default;

  virtual void pack(const Field& field, std::byte* buffer) const = 0;
  virtual void unpack(Field& field, const std::byte* buffer) const = 0;
};

/// Makes packings, and memory for their buffers, of the kind that fields are in.
class Packer {
 public:
  virtual ~Packer() = default;

  virtual std::unique_ptr<Packing> prepare(std::vector<PackedBox> boxes, Precision precision) = 0;
  virtual Memory& memory() = 0;
};

/// By threads of this process.
class HostPacker : public Packer {
 public:
  std::unique_ptr<Packing> prepare(std::vector<PackedBox> boxes, Precision precision) override;
  Memory& memory() override { return host_memory(); }
};

}  // namespace spsolve
