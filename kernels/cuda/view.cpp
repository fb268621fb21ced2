// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/view.hpp"

#include <cstdint>

namespace spsolve::cuda {

View view_of(const Field& field, const std::array<int, 3>& axes) {
  const Box box = field.allocated();
  const auto element = static_cast<std::int64_t>(storage_bytes(field.precision()));
  const auto address = reinterpret_cast<std::intptr_t>(field.bytes_at(box.begin));
  const std::int64_t lead = address % 64 / element;  // rows begin at multiples of 64 bytes
  View view{};
  view.data = reinterpret_cast<void*>(address - lead * element);
  for (int k = 0; k < axis_count; ++k) {
    view.begin[k] = box.begin[axes[k]];
    view.end[k] = box.end[axes[k]];
    view.stride[k] = field.strides()[axes[k]];
  }
  view.begin[column_axis] -= lead;
  view.end[column_axis] = view.begin[column_axis] + field.pitch();
  return view;
}

Region region_of(const Box& box, const std::array<int, 3>& axes) {
  Region region{};
  for (int k = 0; k < axis_count; ++k) {
    region.begin[k] = box.begin[axes[k]];
    region.end[k] = box.end[axes[k]];
  }
  return region;
}

}  // namespace spsolve::cuda
