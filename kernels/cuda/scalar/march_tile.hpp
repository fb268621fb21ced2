// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "kernels/cuda/launch/formats.hpp"
#include "kernels/cuda/launch/launch_shape.hpp"
#include "kernels/cuda/runtime/block_limits.hpp"
#include "kernels/cuda/scalar/kernel_stencil.hpp"

namespace spsolve::cuda {

constexpr int max_points_per_lane = 16;  // along x, at most, in any tile

/// Describes the tile of march.cuh for one depth.
struct MarchTile {
  int depth = 1;  // time steps per kernel
  int warps = 1;  // stacked along rows
  int rows_per_warp = 1;
  int points_per_lane = 4;            // along x
  int stages = 3;                     // planes of input (and of the source) in shared memory
  int blocks_per_multiprocessor = 1;  // bounds the registers per thread
  int column_margin = 0;  // columns on each side that a tile does not write: its halo, rounded up to 16 bytes
  int across_margin = 0;  // margin of the tile across the ends of rows, so that others begin at whole sectors
  int row_margin = 0;     // rows on each side that a tile does not write
  int warm_up = 0;        // cost of the planes before the first written plane, in planes of full work
  int shared_bytes = 0;
  bool whole_vectors = false;  // every thread writes all of its columns or none
  // faces_between_lanes tells whether the walls at the beginning and at the end of rows lie between the
  // columns of two lanes. faces_between_warps tells whether walls across rows lie between the rows of two
  // warps.
  std::array<bool, 2> faces_between_lanes{};
  bool faces_between_warps = false;

  int columns() const { return 32 * points_per_lane; }
  int rows() const { return warps * rows_per_warp; }
  /// Return the columns and rows that one tensor copy brings (plane_pipeline.cuh).
  int box_columns() const { return columns() < 256 ? columns() : 256; }
  int box_rows() const { return columns() > box_columns() ? 1 : rows(); }
  int written_columns() const { return columns() - 2 * column_margin; }
  int written_rows() const { return rows() - 2 * row_margin; }
};

/// Returns the best tile of march.cuh that advances the whole grid by `depth` steps in one kernel. Returns
/// nothing if no tile fits registers and shared memory (large radii, deep fusion).
std::optional<MarchTile> choose_march_tile(const KernelStencil& stencil, const Formats& formats, int depth,
                                           const BlockLimits& limits);

/// Returns the tile of a march that takes `steps` steps of an equation with two time levels
/// (KernelStencil::two_levels), in fp64 or fp32, or nothing if march.cuh does not take them, or if other
/// kernels have to step planes beside walls.
std::optional<MarchTile> two_level_tile(const Domain& domain, const Stencil& stencil, Precision precision,
                                        int steps, const BlockLimits& limits);

/// Describes a march of `tiles` tiles of one row over `planes` planes, away from walls.
SingleRowMarch single_row_march(const MarchTile& tile, std::int64_t planes, std::int64_t tiles,
                                const BlockLimits& limits);

/// Returns what walls cost tiles of one row. The cost is zero for kernels that do not march (no taps along
/// the march axis).
WallCost wall_cost(const KernelStencil& stencil, const MarchTile& tile, int compute_bytes,
                   const Calibration& costs);

/// Returns how many steps per kernel are fastest; 0 if march.cuh does not take the stencil or the grid at
/// all.
int preferred_depth(const KernelStencil& stencil, const Formats& formats, const BlockLimits& limits);

/// Returns the periodic axes at whose ends kernels wrap indices in launches of up to `steps` steps, so that
/// memory needs no periodic copies. Candidates are the axes that `block`, the largest block, spans
/// completely.
///
/// Rows must consist of whole vectors of 16 bytes. If the stencil is marched, indices can be wrapped only
/// along rows of 3D grids that hold at least one tile. If single steps use tiles in shared memory, indices
/// can be wrapped along every axis that is at least as long as the stencil reaches.
std::array<bool, 3> wrapped_axes(const KernelStencil& stencil, const Region& block, Precision precision,
                                 int steps, const BlockLimits& limits);

}  // namespace spsolve::cuda
