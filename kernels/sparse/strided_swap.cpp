// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/strided_swap.hpp"

#include <algorithm>
#include <stdexcept>

namespace spsolve {
namespace {

/// L outputs along the band and `rows` across it, along the axis before the band's (after it, for a band
/// along z).
Index3 swap_tile(int length, int axis, int rows) {
  Index3 tile{1, 1, 1};
  tile[axis] = length;
  tile[axis == z_axis ? y_axis : axis - 1] = rows;
  return tile;
}

}  // namespace

WeightMatrix swapped_band(const Stencil& stencil, int length, int axis, int rows) {
  const Box taps = tap_box(stencil);
  if (length < 2 || length % 2 != 0) throw std::invalid_argument("strided swap: L must be even and positive");
  if (taps.extent()[axis] > length + 1)
    throw std::invalid_argument("strided swap: 2L columns do not hold the band");
  const Index3 tile = swap_tile(length, axis, rows);
  Box window{taps.begin, taps.end + tile - Index3{1, 1, 1}};
  const std::int64_t last = window.end[axis] - 1;

  Box starts = window;  // the first point of every kernel row
  starts.end[axis] = starts.begin[axis] + 1;
  std::vector<Index3> inputs;
  for (const Index3& start : points_of(starts)) {
    for (int j = 0; j < 2 * length; ++j) {
      Index3 point = start;
      point[axis] = std::min(start[axis] + swapped_column(j, length), last);
      inputs.push_back(point);
    }
  }
  // Padding repeats the last point of a row; the weights stay with the column that is really it.
  WeightMatrix matrix = weight_matrix(stencil, points_of(box_of(tile)), points_of(window));
  std::vector<int> order;
  const Index3 extent = window.extent();
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const int j = static_cast<int>(k) % (2 * length);
    const Index3 place = inputs[k] - window.begin;
    const bool padding = swapped_column(j, length) >= extent[axis];
    order.push_back(padding ? zero_column
                            : static_cast<int>((place[0] * extent[1] + place[1]) * extent[2] + place[2]));
  }
  WeightMatrix swapped = order_columns(matrix, order);
  swapped.inputs = std::move(inputs);
  return swapped;
}

Operand strided_swap(const Stencil& stencil, int length, int axis, int rows) {
  return compress(swapped_band(stencil, length, axis, rows), swap_tile(length, axis, rows), one_of_two);
}

}  // namespace spsolve
