// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/launch/view.hpp"

#include <algorithm>
#include <cstdint>

#include "kernels/cuda/launch/launch_shape.hpp"

namespace spsolve::cuda {

View view_of(const Field& field, const std::array<int, 3>& axes) {
  const Box box = field.allocated();
  const auto element = static_cast<std::int64_t>(storage_bytes(field.precision()));
  const auto address = reinterpret_cast<std::intptr_t>(field.bytes_at(box.begin));
  const std::int64_t lead = address % 64 / element;  // rows begin at multiples of 64 bytes
  View view{};
  view.data = reinterpret_cast<void*>(address - lead * element);
  view.largest = const_cast<int*>(field.magnitude_bound());
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

View near(View view, const Region& region, std::int64_t element_bytes) {
  constexpr std::int64_t granule = 64, reach = std::int64_t{1} << 20;
  if (view.end[column_axis] - view.begin[column_axis] <= max_columns) return view;
  const std::int64_t skipped = std::max<std::int64_t>(
      0, round_down(region.begin[column_axis] - reach - view.begin[column_axis], granule));
  view.data = static_cast<std::byte*>(view.data) + skipped * element_bytes;
  view.begin[column_axis] += skipped;
  view.end[column_axis] = std::min<long long>(
      view.end[column_axis],
      view.begin[column_axis] + round_up(region.end[column_axis] + reach - view.begin[column_axis], granule));
  return view;
}

}  // namespace spsolve::cuda
