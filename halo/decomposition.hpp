// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/box.hpp"

namespace spsolve {

/// Describes the global grid, cut into one block per rank. Ranks form a Cartesian grid, slowest axis first,
/// and blocks along an axis differ by at most one point. The decomposition depends only on shape and rank
/// grid, so every rank knows all blocks.
class Decomposition {
 public:
  /// Throws Error(invalid_input) if an axis would be cut into more blocks than it has points.
  Decomposition(const Index3& shape, const Index3& rank_grid);

  const Index3& shape() const { return shape_; }
  const Index3& rank_grid() const { return rank_grid_; }
  int ranks() const { return static_cast<int>(volume(rank_grid_)); }

  Index3 coordinates(int rank) const;
  int rank_at(const Index3& coordinates) const;
  /// Returns the first point of block `coordinate` along an axis. A block ends where the next one begins.
  std::int64_t block_begin(int axis, std::int64_t coordinate) const;
  /// Returns the block along an axis that holds point i.
  std::int64_t block_of(int axis, std::int64_t i) const;
  Box block(int rank) const;
  /// Returns the rank whose block holds a point of the grid.
  int rank_of(const Index3& p) const {
    return rank_at({block_of(z_axis, p[z_axis]), block_of(y_axis, p[y_axis]), block_of(x_axis, p[x_axis])});
  }

 private:
  Index3 shape_;
  Index3 rank_grid_;
};

/// Holds the relative cost on GPUs of a point received through a face across each axis. Beside faces across y
/// and x, whole tiles are computed for a few points; across x, every row is read and written in pieces of 32
/// bytes. Results do not depend on these numbers.
constexpr Index3 gpu_face_cost{1, 2, 8};

/// Returns the rank grid that moves the fewest halo points per exchange of width `halo` (per axis), weighted
/// by `face_cost`. Among equals it cuts the slowest axes first, because their faces are contiguous. Throws
/// Error(invalid_input) if `ranks` cannot be placed on the grid.
Index3 min_surface_rank_grid(const Index3& shape, int ranks, const Index3& halo,
                             const Index3& face_cost = {1, 1, 1});

}  // namespace spsolve
