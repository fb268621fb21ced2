// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a thread of march.cuh writes: its points that belong to the tile and to the region, plane by plane.

#include "march_tile.cuh"
#include "precision.cuh"

namespace spsolve::cuda {

class TileOutput {
 public:
  __device__ TileOutput(const Arguments& a, long long begin, long long first_row, long long first_column)
      : a_(a) {
    const Region& region = a.region;
    const int tile_row = static_cast<int>(threadIdx.x) / 32 * VY,
              tile_column = static_cast<int>(threadIdx.x) % 32 * VX;
    const long long row = first_row + tile_row, column = first_column + tile_column;
    const int margin = is_across(first_column) ? across_margin : column_margin;
    written_rows_ = written<VY>(tile_row, first_row, tile_rows, depth * RY, row_axis);
    written_columns_ = written<VX>(tile_column, first_column, tile_columns, margin, column_axis);
    if (whole_vectors && written_columns_ == 0) written_rows_ = 0;
    out_ = static_cast<Out*>(a.out.data) + (begin - a.out.begin[0]) * a.out.stride[0] +
           (row - a.out.begin[1]) * a.out.stride[1] +
           ((rows_repeat ? in_period(column, a.row_period) : column) - a.out.begin[2]);
  }

  /// The next plane.
  __device__ void write(const Points& points) {
    constexpr unsigned all_columns = (1u << VX) - 1;
    if (whole_vectors || written_columns_ == all_columns) {
#pragma unroll
      for (int v = 0; v < VY; ++v) {
        Pack<Out, VX> vector;
#pragma unroll
        for (int c = 0; c < VX; ++c) store(vector.element[c], points.at[v][c]);
        if ((written_rows_ >> v) & 1) *reinterpret_cast<Pack<Out, VX>*>(out_ + v * a_.out.stride[1]) = vector;
      }
    } else if (written_columns_) {
#pragma unroll
      for (int v = 0; v < VY; ++v)
#pragma unroll
        for (int c = 0; c < VX; ++c)
          if ((written_rows_ >> v) & (written_columns_ >> c) & 1)
            store(out_[v * a_.out.stride[1] + c], points.at[v][c]);
    }
    out_ += a_.out.stride[0];
  }

 private:
  /// Which of n points from `first` on, in a tile of so many that begins at point `tile_begin` of the grid,
  /// are in the region, and not in the margin. Blocks of lines take one plane: a test for every point would
  /// be a sixth of their instructions.
  template <int n>
  __device__ unsigned written(int first, long long tile_begin, int tile_points, int margin, int axis) const {
    const long long begin = max(a_.region.begin[axis] - tile_begin, static_cast<long long>(margin)),
                    end = min(a_.region.end[axis] - tile_begin, static_cast<long long>(tile_points - margin));
    const int from = static_cast<int>(min(begin, static_cast<long long>(tile_points))) - first,
              to = static_cast<int>(max(end, 0ll)) - first;
    const unsigned before = (1u << min(max(from, 0), n)) - 1, up_to = (1u << min(max(to, 0), n)) - 1;
    return up_to & ~before;
  }

  const Arguments& a_;
  // One bit per row or column of the thread.
  unsigned written_rows_ = 0, written_columns_ = 0;
  Out* out_;  // the thread's first point in the next plane to write
};

}  // namespace spsolve::cuda
