// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/box.hpp"
#include "kernels/rounding.hpp"

namespace spsolve {

/// Returns which chunks of this extent a box touches, by their numbers along the axes.
constexpr Box chunks_touched_by(const Box& box, const Index3& chunk) {
  Box touched;
  if (box.empty()) return touched;
  for (int axis = 0; axis < axis_count; ++axis) {
    touched.begin[axis] = box.begin[axis] / chunk[axis];
    touched.end[axis] = ceil_div(box.end[axis], chunk[axis]);
  }
  return touched;
}

}  // namespace spsolve
