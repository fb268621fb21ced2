// SPDX-License-Identifier: Apache-2.0
#include "halo/pack.hpp"

#include <cstring>

namespace spsolve {
namespace {

/// Calls copy(point, offset, bytes) for every row of every box: where it begins in the grid and in the
/// buffer.
template <class Copy>
void for_each_row(const Field& field, std::span<const PackedBox> boxes, Copy&& copy) {
  const std::size_t element = storage_bytes(field.precision());
  for (const PackedBox& packed : boxes) {
    const Index3 extent = packed.box.extent();
    const std::size_t bytes = static_cast<std::size_t>(extent[2]) * element;
#pragma omp parallel for schedule(static) if (extent[0] * extent[1] > 256)
    for (std::int64_t row = 0; row < extent[0] * extent[1]; ++row)
      copy(packed.box.begin + Index3{row / extent[1], row % extent[1], 0},
           packed.offset + static_cast<std::size_t>(row) * bytes, bytes);
  }
}

}  // namespace

void pack(const Field& field, std::span<const PackedBox> boxes, std::byte* buffer) {
  for_each_row(field, boxes, [&](const Index3& point, std::size_t offset, std::size_t bytes) {
    std::memcpy(buffer + offset, field.bytes_at(point), bytes);
  });
}

void unpack(Field& field, std::span<const PackedBox> boxes, const std::byte* buffer) {
  for_each_row(field, boxes, [&](const Index3& point, std::size_t offset, std::size_t bytes) {
    std::memcpy(field.bytes_at(point), buffer + offset, bytes);
  });
}

}  // namespace spsolve
