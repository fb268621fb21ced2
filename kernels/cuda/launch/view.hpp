// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "kernels/cuda/launch/arguments.hpp"
#include "kernels/field.hpp"

namespace spsolve::cuda {

/// Returns the device memory of a field, including the padding of its rows, in kernel axes: axes[k] is the
/// grid axis of kernel axis k.
View view_of(const Field& field, const std::array<int, 3>& axes);

/// Converts a box of points to kernel axes.
Region region_of(const Box& box, const std::array<int, 3>& axes);

/// Returns the same memory as words of 8 bytes, starting at column 0. A box of the copy engine has a limited
/// number of elements along each axis, so it covers the most columns if its elements are words.
inline View in_words(View view, int element_bytes) {
  view.end[column_axis] = (view.end[column_axis] - view.begin[column_axis]) * element_bytes / 8;
  view.begin[column_axis] = 0;
  for (const int axis : {plane_axis, row_axis}) view.stride[axis] = view.stride[axis] * element_bytes / 8;
  return view;
}

/// Describes the part of a view that the copy engine moves at once.
struct CopiedBox {
  View view;
  int element_bytes, rows, columns, planes = 1;
};

/// Restricts a view with rows longer than max_columns to the columns within 2^20 of a region, which is
/// farther than any weights reach. Shorter views are returned as they are.
View near(View view, const Region& region, std::int64_t element_bytes);

}  // namespace spsolve::cuda
