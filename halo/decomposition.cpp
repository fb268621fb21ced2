// SPDX-License-Identifier: Apache-2.0
#include "halo/decomposition.hpp"

#include <fmt/format.h>

#include <limits>

#include "kernels/error.hpp"

namespace spsolve {

Decomposition::Decomposition(const Index3& shape, const Index3& rank_grid)
    : shape_(shape), rank_grid_(rank_grid) {
  for (int axis = 0; axis < axis_count; ++axis)
    if (rank_grid[axis] < 1 || rank_grid[axis] > shape[axis])
      throw Error(InputKey{"parallel", "ranks"}, fmt::format(": {} blocks along {} do not fit its {} points",
                                                             rank_grid[axis], "zyx"[axis], shape[axis]));
}

Index3 Decomposition::coordinates(int rank) const { return point_of(rank, rank_grid_); }

int Decomposition::rank_at(const Index3& c) const { return static_cast<int>(index_of(c, rank_grid_)); }

std::int64_t Decomposition::block_begin(int axis, std::int64_t coordinate) const {
  const std::int64_t points = shape_[axis] / rank_grid_[axis], longer = shape_[axis] % rank_grid_[axis];
  return coordinate * points + std::min(coordinate, longer);
}

std::int64_t Decomposition::block_of(int axis, std::int64_t i) const {
  const std::int64_t points = shape_[axis] / rank_grid_[axis], longer = shape_[axis] % rank_grid_[axis];
  const std::int64_t in_longer = longer * (points + 1);
  return i < in_longer ? i / (points + 1) : longer + (i - in_longer) / points;
}

Box Decomposition::block(int rank) const {
  const Index3 c = coordinates(rank);
  Box box;
  for (int axis = 0; axis < axis_count; ++axis) {
    box.begin[axis] = block_begin(axis, c[axis]);
    box.end[axis] = block_begin(axis, c[axis] + 1);
  }
  return box;
}

Index3 min_surface_rank_grid(const Index3& shape, int ranks, const Index3& halo, const Index3& face_cost) {
  Index3 best{};
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t x = 1; x <= std::min<std::int64_t>(ranks, shape[2]); ++x) {
    if (ranks % x != 0) continue;
    for (std::int64_t y = 1; y <= std::min<std::int64_t>(ranks / x, shape[1]); ++y) {
      if (ranks / x % y != 0) continue;
      const Index3 grid{ranks / x / y, y, x};
      if (grid[0] > shape[0]) continue;
      // The surface is the number of points that one block receives per exchange through the axes that are
      // cut.
      double surface = 0;
      for (int axis = 0; axis < axis_count; ++axis) {
        if (grid[axis] == 1) continue;
        const int a = (axis + 1) % 3, b = (axis + 2) % 3;
        surface += static_cast<double>(face_cost[axis] * halo[axis]) * static_cast<double>(shape[a]) /
                   static_cast<double>(grid[a]) * static_cast<double>(shape[b]) /
                   static_cast<double>(grid[b]);
      }
      // Candidates come with few cuts in x first, then in y. A later candidate must have strictly less
      // surface.
      if (surface < least) {
        least = surface;
        best = grid;
      }
    }
  }
  if (volume(best) == 0)
    throw Error(Status::invalid_input,
                fmt::format("{} ranks cannot be placed on a grid of {} x {} x {} points: use fewer ranks",
                            ranks, shape[0], shape[1], shape[2]));
  return best;
}

}  // namespace spsolve
