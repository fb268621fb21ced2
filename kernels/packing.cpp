// SPDX-License-Identifier: Apache-2.0
#include "kernels/packing.hpp"

#include <cstring>

namespace spsolve {
namespace {

class HostPacking : public Packing {
 public:
  explicit HostPacking(std::vector<BoxCopy> copies) : copies_(std::move(copies)) {
    for (const BoxCopy& copy : copies_) points_ += volume(copy.extent);
  }

  void copy(Field& field, std::byte* buffer) const override {
#pragma omp parallel if (points_ > 1 << 14)
    for (const BoxCopy& copy : copies_) {
      const Box box = box_of(copy.extent);
      const std::size_t bytes = static_cast<std::size_t>(copy.extent[2]) * storage_bytes(field.precision());
#pragma omp for schedule(static) nowait
      for (std::int64_t row = 0; row < row_count(box); ++row) {
        const auto address = [&](const Place& place) {
          if (const auto* offset = std::get_if<std::size_t>(&place))
            return buffer + *offset + static_cast<std::size_t>(row) * bytes;
          return field.bytes_at(std::get<Index3>(place) + row_begin(box, row));
        };
        std::memcpy(address(copy.to), address(copy.from), bytes);
      }
    }
  }

 private:
  std::vector<BoxCopy> copies_;
  std::int64_t points_ = 0;
};

}  // namespace

std::unique_ptr<Packing> HostPacker::prepare(std::vector<BoxCopy> copies) {
  return std::make_unique<HostPacking>(std::move(copies));
}

}  // namespace spsolve
