// SPDX-License-Identifier: Apache-2.0
#include "kernels/packing.hpp"

#include <cstring>

namespace spsolve {
namespace {

class HostPacking : public Packing {
 public:
  HostPacking(std::vector<PackedBox> boxes, Precision precision)
      : boxes_(std::move(boxes)), element_(storage_bytes(precision)) {
    for (const PackedBox& packed : boxes_) points_ += packed.box.points();
  }

  void pack(const Field& field, std::byte* buffer) const override {
    for_each_row([&](const Index3& point, std::size_t offset, std::size_t bytes) {
      std::memcpy(buffer + offset, field.bytes_at(point), bytes);
    });
  }

  void unpack(Field& field, const std::byte* buffer) const override {
    for_each_row([&](const Index3& point, std::size_t offset, std::size_t bytes) {
      std::memcpy(field.bytes_at(point), buffer + offset, bytes);
    });
  }

 private:
  /// Calls copy(point, offset, bytes) for every row of every box: where it begins in the grid and in the
  /// buffer.
  template <class Copy>
  void for_each_row(Copy&& copy) const {
#pragma omp parallel if (points_ > 1 << 14)
    for (const PackedBox& packed : boxes_) {
      const Index3 extent = packed.box.extent();
      const std::size_t bytes = static_cast<std::size_t>(extent[2]) * element_;
#pragma omp for schedule(static) nowait
      for (std::int64_t row = 0; row < extent[0] * extent[1]; ++row)
        copy(packed.box.begin + Index3{row / extent[1], row % extent[1], 0},
             packed.offset + static_cast<std::size_t>(row) * bytes, bytes);
    }
  }

  std::vector<PackedBox> boxes_;
  std::size_t element_;
  std::int64_t points_ = 0;
};

}  // namespace

std::unique_ptr<Packing> HostPacker::prepare(std::vector<PackedBox> boxes, Precision precision) {
  return std::make_unique<HostPacking>(std::move(boxes), precision);
}

}  // namespace spsolve
