// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/strided_swap.hpp"

#include <stdexcept>
#include <utility>

namespace spsolve {
namespace {

/// Returns a tile of L outputs along the band and `rows` across it, along the axis before the band's (after
/// it, for a band along z).
Index3 swap_tile(int length, int axis, int rows) {
  Index3 tile{1, 1, 1};
  tile[axis] = length;
  tile[axis == z_axis ? y_axis : axis - 1] = rows;
  return tile;
}

}  // namespace

WeightMatrix swapped_band(const Stencil& stencil, int length, int axis, int rows) {
  if (length < 2 || length % 2 != 0) throw std::invalid_argument("strided swap: L must be even and positive");
  const Index3 tile = swap_tile(length, axis, rows);
  Box starts = tap_box(stencil);  // the first point of every kernel row
  starts.end = starts.end + tile - Index3{1, 1, 1};
  starts.end[axis] = starts.begin[axis] + 1;
  std::vector<Index3> inputs;
  for (Index3 point : points_of(starts)) {
    for (int j = 0; j < 2 * length; ++j) {
      point[axis] = starts.begin[axis] + swapped_column(j, length);
      inputs.push_back(point);
    }
  }
  return weight_matrix(stencil, points_of(box_of(tile)), std::move(inputs));
}

Operand strided_swap(const Stencil& stencil, int length, int axis, int rows) {
  return compress(swapped_band(stencil, length, axis, rows), swap_tile(length, axis, rows), one_of_two);
}

}  // namespace spsolve
