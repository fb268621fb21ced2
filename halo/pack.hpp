// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "kernels/field.hpp"

namespace spsolve {

/// A box of a field and where its points lie, row after row, in a contiguous buffer.
struct PackedBox {
  Box box;
  std::size_t offset = 0;  // bytes
};

/// Copies the boxes of `field` into `buffer`.
void pack(const Field& field, std::span<const PackedBox> boxes, std::byte* buffer);

/// Copies `buffer` into the boxes of `field`.
void unpack(Field& field, std::span<const PackedBox> boxes, const std::byte* buffer);

}  // namespace spsolve
