// SPDX-License-Identifier: Apache-2.0
#pragma once

// Points of a thread of march.cuh that lie beyond walls.

#include "march_tile.cuh"

namespace spsolve::cuda {

/// Keeps the compiler from turning a branch that whole warps skip into selects that all execute.
__device__ inline void keep_branch() { __syncwarp(); }

/// What the points of a thread are beside walls, one bit per row or column. The host sees to it that no
/// thread has points beyond both faces of an axis.
struct Ghosts {
  unsigned mirrored = 0, constant = 0;
  bool any_constant = false;  // in the warp
  Compute value = 0;          // of the constant ones

  __device__ void add(int bit, Ghost ghost, const Arguments& a, int axis) {
    if (ghost == Ghost::mirrored) mirrored |= 1u << bit;
    if (ghost == Ghost::low_value || ghost == Ghost::high_value) {
      constant |= 1u << bit;
      value = ghost_value(a, axis, ghost == Ghost::high_value);
    }
  }
  __device__ void vote() { any_constant = __any_sync(0xffffffffu, constant != 0); }
};

/// Those of a tile; without walls, only where level 0 of its points is.
template <bool beside_wall>
class TileGhosts {
 public:
  int image_row[VY], image_column[VX];  // where in the tile level 0 of a row or column is
  Ghosts rows, columns;

  __device__ TileGhosts(const Arguments& a, long long first_row, long long first_column) : a_(a) {
    const int tile_row = static_cast<int>(threadIdx.x) / 32 * VY,
              tile_column = static_cast<int>(threadIdx.x) % 32 * VX;
    for (int v = 0; v < VY; ++v) image_row[v] = tile_row + v;
    for (int c = 0; c < VX; ++c) image_column[c] = tile_column + c;
    if constexpr (beside_wall) {
      for (int v = 0; v < VY; ++v) {
        const Place place = place_of<row_axis>(first_row + tile_row + v, a.shape[row_axis]);
        rows.add(v, place.ghost, a, row_axis);
        if (has_wall(row_axis, Wall::neumann))
          image_row[v] = static_cast<int>(clamp(place.index - first_row, 0, tile_rows));
      }
      for (int c = 0; c < VX; ++c) {
        const Place place = place_of<column_axis>(first_column + tile_column + c, a.shape[column_axis]);
        columns.add(c, place.ghost, a, column_axis);
        if (has_wall(column_axis, Wall::neumann))
          image_column[c] = static_cast<int>(clamp(place.index - first_column, 0, tile_columns));
      }
      rows.vote();
      columns.vote();
      now_ = columns.any_constant || rows.any_constant;
      planes_ = static_cast<int>(a.shape[plane_axis]);
    }
  }

  /// Before the march takes a plane.
  __device__ void begin_plane(int plane) {
    if constexpr (has_wall(plane_axis, Wall::dirichlet)) {
      const bool outside = plane >= planes_ || plane - (depth - 1) * R < 0;
      now_ = columns.any_constant || rows.any_constant || outside;
    }
  }

  /// Points beyond dirichlet faces take their values; planes decide before rows, rows before columns. Warps
  /// without such points only pass the branches.
  __device__ void impose(Points& points, int plane) const {
    if constexpr (!masks_alone) {
      if (!now_) return;
      keep_branch();
    }
    if (has_wall(column_axis, Wall::dirichlet) && (by_masks || columns.any_constant)) {
      if constexpr (!by_masks) keep_branch();
#pragma unroll
      for (int c = 0; c < VX; ++c)
#pragma unroll
        for (int v = 0; v < VY; ++v) points.at[v][c] = choose_value(columns, c, points.at[v][c]);
    }
    if (has_wall(row_axis, Wall::dirichlet) && (by_masks || rows.any_constant)) {
      if constexpr (!by_masks) keep_branch();
#pragma unroll
      for (int c = 0; c < VX; ++c)
#pragma unroll
        for (int v = 0; v < VY; ++v) points.at[v][c] = choose_value(rows, v, points.at[v][c]);
    }
    if (has_wall(plane_axis, Wall::dirichlet) &&
        static_cast<unsigned>(plane) >= static_cast<unsigned>(planes_)) {
      keep_branch();
      const Compute value = ghost_value(a_, plane_axis, plane < 0 ? 0 : 1);
#pragma unroll
      for (int v = 0; v < VY; ++v)
#pragma unroll
        for (int c = 0; c < VX; ++c) points.at[v][c] = value;
    }
  }

 private:
  /// One instruction per point, less than a branch and its selects; in fp64 two.
  static constexpr bool by_masks = sizeof(Compute) == sizeof(float);
  /// Without a branch around them: few warps of a tile of many have no ghosts at all, and branches keep the
  /// instructions of one level from filling the waits of another.
  static constexpr bool masks_alone = by_masks && warps > 1;

  static __device__ Compute choose_value(const Ghosts& ghosts, int bit, Compute point) {
    if constexpr (by_masks)
      return choose(ghosts.constant, bit, ghosts.value, point);
    else
      return (ghosts.constant >> bit) & 1 ? ghosts.value : point;
  }

  const Arguments& a_;
  bool now_ = false;  // some point of the warp at some level is beyond a dirichlet face
  int planes_ = 0;    // of the grid
};

}  // namespace spsolve::cuda
