// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "kernels/cuda/launch/arguments.hpp"
#include "kernels/field.hpp"

namespace spsolve::cuda {

/// The device memory of a field, its rows with their padding, in kernel axes: axes[k] is the grid axis of
/// kernel axis k.
View view_of(const Field& field, const std::array<int, 3>& axes);

/// A box of points, in kernel axes.
Region region_of(const Box& box, const std::array<int, 3>& axes);

/// The same memory in words of 8 bytes, from column 0 on: a box of the copy engine has most columns so.
inline View in_words(View view, int element_bytes) {
  view.end[column_axis] = (view.end[column_axis] - view.begin[column_axis]) * element_bytes / 8;
  view.begin[column_axis] = 0;
  for (const int axis : {plane_axis, row_axis}) view.stride[axis] = view.stride[axis] * element_bytes / 8;
  return view;
}

/// Of rows longer than launches take, the columns of a view within 2^20 of a region: farther than weights
/// reach.
View near(View view, const Region& region, std::int64_t element_bytes);

}  // namespace spsolve::cuda
