// SPDX-License-Identifier: Apache-2.0
#include "kernels/packing.hpp"

#include <cstring>

namespace spsolve {
namespace {

class HostPreparedCopies : public PreparedCopies {
 public:
  explicit HostPreparedCopies(std::vector<BoxCopy> copies) : copies_(std::move(copies)) {
    for (const BoxCopy& copy : copies_) points_ += volume(copy.extent);
  }

  void copy(Field& field, std::byte* buffer) const override {
#pragma omp parallel if (points_ > 1 << 14)
    for (const BoxCopy& copy : copies_) {
      const Box box = box_of(copy.extent);
      const std::size_t bytes = static_cast<std::size_t>(copy.extent[2]) * storage_bytes(field.precision());
#pragma omp for schedule(static) nowait
      for (std::int64_t row = 0; row < row_count(box); ++row) {
        const auto address = [&](const CopyPosition& place, std::int64_t which) {
          if (const auto* offset = std::get_if<std::size_t>(&place))
            return buffer + *offset + static_cast<std::size_t>(which) * bytes;
          return field.bytes_at(std::get<Index3>(place) + row_begin(box, which));
        };
        if (copy.reflection.is_copy())
          std::memcpy(address(copy.to, row), address(copy.from, row), bytes);
        else
          copy_reflected(address(copy.to, row), address(copy.from, source_row(copy, row)), copy,
                         field.precision());
      }
    }
  }

 private:
  /// Returns the row of the source box that becomes `row` of the copy.
  static std::int64_t source_row(const BoxCopy& copy, std::int64_t row) {
    Index3 p = row_begin(box_of(copy.extent), row);
    for (const int axis : {z_axis, y_axis})
      if (copy.reflection.reversed[axis]) p[axis] = copy.extent[axis] - 1 - p[axis];
    return p[z_axis] * copy.extent[y_axis] + p[y_axis];
  }

  static void copy_reflected(std::byte* to, const std::byte* from, const BoxCopy& copy, Precision precision) {
    const Reflection& reflection = copy.reflection;
    const std::int64_t columns = copy.extent[x_axis];
    with_storage(precision, [&]<class Storage>() {
      for (std::int64_t i = 0; i < columns; ++i) {
        const Storage value =
            reinterpret_cast<const Storage*>(from)[reflection.reversed[x_axis] ? columns - 1 - i : i];
        reinterpret_cast<Storage*>(to)[i] =
            reflection.keeps_values() ? value : to_storage<Storage>(reflection.apply(stored_value(value)));
      }
    });
  }

  std::vector<BoxCopy> copies_;
  std::int64_t points_ = 0;
};

}  // namespace

std::unique_ptr<PreparedCopies> HostPacker::prepare(std::vector<BoxCopy> copies, const Field& /*like*/) {
  return std::make_unique<HostPreparedCopies>(std::move(copies));
}

}  // namespace spsolve
