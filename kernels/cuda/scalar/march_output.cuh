// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes the points of a thread of march.cuh that belong to the tile and to the region, plane by plane.

#include "kernels/cuda/ptx/precision.cuh"
#include "kernels/cuda/scalar/march_block.cuh"
#include "kernels/cuda/scalar/march_tile.cuh"

namespace spsolve::cuda {

/// Writes the points of one thread, plane after plane.
class TileOutput {
 public:
  __device__ explicit TileOutput(const MarchBlock& block) : a_(block.a) {
    const int tile_row = static_cast<int>(threadIdx.x) / 32 * VY,
              tile_column = static_cast<int>(threadIdx.x) % 32 * VX;
    const long long row = block.first_row + tile_row, first_column = block.first_column,
                    column = first_column + tile_column;
    const int margin = is_across(first_column) ? across_margin : column_margin;
    const long long begin_column = max(a_.region.begin[2], first_column + margin),
                    end_column = min(a_.region.end[2], first_column + tile_columns - margin);
    written_rows_ = among<VY>(tile_row, block.begin_row - block.first_row, block.end_row - block.first_row);
    written_columns_ = among<VX>(tile_column, begin_column - first_column, end_column - first_column);
    if (whole_vectors && written_columns_ == 0) written_rows_ = 0;
    if constexpr (ends_within_vectors) columns_ = static_cast<int>(clamp(a_.shape[2] - column, 0, VX + 1));
    out_ = static_cast<Out*>(a_.out.data) + (block.begin - a_.out.begin[0]) * a_.out.stride[0] +
           (row - a_.out.begin[1]) * a_.out.stride[1] +
           ((wraps(column_axis) ? in_period<long long>(column, 0, a_.row_period) : column) - a_.out.begin[2]);
  }

  /// Writes the next plane; of two time levels, also the values one step before.
  __device__ void write(const Points& points, const Points& before) {
    compute_anew(written_rows_);
    put(out_, points);
    if constexpr (two_levels) put(out_ + a_.to_previous, before);
    out_ += a_.out.stride[0];
  }

 private:
  /// Writes a plane of the thread's points that begins at `to`.
  __device__ void put(Out* to, const Points& points) const {
    constexpr unsigned all_columns = (1u << VX) - 1;
    if (whole_vectors || written_columns_ == all_columns) {
#pragma unroll
      for (int v = 0; v < VY; ++v) {
        ElementVector<Out, VX> vector;
#pragma unroll
        for (int c = 0; c < VX; ++c)
          store(vector.element[c], ends_within_vectors && c >= columns_ ? Compute(0) : points.at[v][c]);
        if ((written_rows_ >> v) & 1)
          *reinterpret_cast<ElementVector<Out, VX>*>(to + v * a_.out.stride[1]) = vector;
      }
    } else if (written_columns_) {
#pragma unroll
      for (int v = 0; v < VY; ++v)
#pragma unroll
        for (int c = 0; c < VX; ++c)
          if ((written_rows_ >> v) & (written_columns_ >> c) & 1)
            store(to[v * a_.out.stride[1] + c], points.at[v][c]);
    }
  }

  /// Is true if written vectors may end beyond a wall, where memory must be finite.
  static constexpr bool ends_within_vectors =
      whole_vectors && walls[column_axis][1] != Wall::none && !faces_between_lanes[1];

  /// Returns, as bits, which of n points from `first` of the tile on lie in [begin, end) of the tile. In 1D a
  /// block takes one plane, so that a test per point would be a sixth of its instructions.
  template <int n>
  static __device__ unsigned among(int first, long long begin, long long end) {
    constexpr long long most = 32 * VX * VY * warps;
    const int from = static_cast<int>(min(begin, most)) - first, to = static_cast<int>(max(end, 0ll)) - first;
    const unsigned before = (1u << min(max(from, 0), n)) - 1, up_to = (1u << min(max(to, 0), n)) - 1;
    return up_to & ~before;
  }

  const ScalarArguments& a_;
  // These hold one bit per row or column of the thread that is written.
  unsigned written_rows_ = 0, written_columns_ = 0;
  int columns_ = VX;  // columns of the thread inside the grid
  Out* out_;          // first point of the thread in the next plane
};

}  // namespace spsolve::cuda
