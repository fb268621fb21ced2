// SPDX-License-Identifier: Apache-2.0
#pragma once

// Periodic images of results, which a kernel writes where it writes these.

#include "arguments.hpp"

namespace spsolve::cuda {

/// write(rows, columns) for each shift by periods of the grid that takes some of a box of results to memory
/// of `out` beside the grid. The box begins at `row`, along an axis of the kernel, and `column`.
template <int rows_axis, class Write>
__device__ inline void for_each_image(const Periods& period, const View& out, long long row, long long column,
                                      int rows, int columns, Write&& write) {
  if (period.columns == 0) return;
  const bool up = row + rows - period.rows > out.begin[rows_axis],
             down = row + period.rows<out.end[rows_axis], left = column + columns - period.columns> out
                              .begin[column_axis],
             right = column + period.columns < out.end[column_axis];
  if (!(up || down || left || right)) return;
#pragma unroll 1
  for (int y = up ? -1 : 0; y <= (down ? 1 : 0); ++y)
#pragma unroll 1
    for (int x = left ? -1 : 0; x <= (right ? 1 : 0); ++x)
      if (y != 0 || x != 0) write(y * period.rows, x * period.columns);
}

}  // namespace spsolve::cuda
