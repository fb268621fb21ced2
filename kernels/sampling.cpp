// SPDX-License-Identifier: Apache-2.0
#include "kernels/sampling.hpp"

#include <type_traits>

#include "kernels/rounding.hpp"

namespace spsolve {
namespace {

template <class From, class To>
void convert(const From* from, std::int64_t stride, std::int64_t points, To* to) {
  for (std::int64_t i = 0; i < points; ++i)
    if constexpr (std::is_same_v<From, To>)
      to[i] = from[i * stride];
    else if constexpr (std::is_floating_point_v<To>)  // the cast vectorizes; the call below does not
      to[i] = static_cast<To>(stored_value(from[i * stride]));
    else
      to[i] = to_storage<To>(stored_value(from[i * stride]));
}

}  // namespace

Box Sampling::sampled(const Box& box) const {
  Box sampled;
  for (int axis = 0; axis < axis_count; ++axis) {
    sampled.begin[axis] = ceil_div(box.begin[axis], stride);
    sampled.end[axis] = ceil_div(box.end[axis], stride);
  }
  return sampled;
}

void copy_sampled(const Field& field, const Sample& sample) {
  Field& values = *sample.values;
  const Box& box = values.owned();
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < row_count(box); ++row) {
    const Index3 begin = row_begin(box, row);
    convert(field.precision(), field.bytes_at(sample.stride * begin), sample.stride, box.extent()[x_axis],
            values.precision(), values.bytes_at(begin));
  }
}

void convert(Precision from_precision, const std::byte* from, std::int64_t stride, std::int64_t points,
             Precision to_precision, std::byte* to) {
  with_storage(format_of(from_precision), [&]<class From>() {
    with_storage(format_of(to_precision), [&]<class To>() {
      convert(reinterpret_cast<const From*>(from), stride, points, reinterpret_cast<To*>(to));
    });
  });
}

}  // namespace spsolve
