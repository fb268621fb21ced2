// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "kernels/cuda/launch/launch_shape.hpp"
#include "kernels/cuda/runtime/block_limits.hpp"
#include "kernels/cuda/scalar/kernel_stencil.hpp"

namespace spsolve::cuda {

constexpr int most_points_per_lane = 16;  // neighbours in x, of any tile

/// The best tile of march.cuh for so many steps of the whole grid in one kernel, or none if its registers or
/// shared memory do not do (large radii, deep fusion).
std::optional<Tile> choose_tile(const KernelStencil& stencil, const Formats& formats, int depth,
                                const BlockLimits& limits);

/// The march over so many planes by `tiles` tiles of one row so cut, away from walls.
FlatMarch flat_march(const Tile& tile, std::int64_t planes, std::int64_t tiles, const BlockLimits& limits);

/// Of tiles of one row; none where there is no march.
WallCost wall_cost(const KernelStencil& stencil, const Tile& tile, int compute_bytes,
                   const Calibration& costs);

/// How many steps in one kernel are fastest; 0 if march.cuh does not take the stencil or the grid at all.
int preferred_depth(const KernelStencil& stencil, const Formats& formats, const BlockLimits& limits);

/// The axes of which kernels of launches of up to `steps` steps take what lies beyond one end from the other,
/// so that no images of them are needed in memory: of those that `block`, the largest, has whole. Rows must
/// be of whole vectors of 16 bytes, and repeat alone where there is a march, in 3D and of at least a tile.
/// Where single steps take the block by tiles in shared memory all axes do that reach no farther than the
/// grid.
std::array<bool, 3> repeating_axes(const KernelStencil& stencil, const Region& block, Precision precision,
                                   int steps, const BlockLimits& limits);

/// The columns [begin, end) of a region, counted from where its rows are aligned to 64 bytes, grown to
/// columns that threads write together: in rows of `scratch` memory, and where the grid ends at a wall and
/// rows have room to 64 bytes beyond. Sweeps on tensor cores read that room, with weights of zero, so that
/// march.cuh writes zeros there. fp16 is left out: what was written there before could overflow, and zeros
/// have not been measured.
std::array<std::int64_t, 2> in_whole_vectors(const std::array<std::int64_t, 2>& columns, const Tile& tile,
                                             const Formats& formats, bool scratch, bool ends_at_wall);

/// Where the columns of a march are cut into tiles, the first of which writes column `first` of the region;
/// where rows repeat it lies across their ends, and the region is turned so that it begins with it.
void place_column_tiles(Arguments& a, const Tile& tile, std::int64_t first);

/// The tiles of rows of a region.
RowTiles tiles_of_rows(const Region& region, const KernelStencil& stencil, const Tile& tile);

/// Moves tiles so placed towards the beginning of rows until only the last one reaches beyond their end,
/// where that leaves the second within them: blocks beside walls take longer than others.
void keep_tiles_from_walls(Arguments& a, const Tile& tile);

/// Both for a launch over a.region; returns the tile as its kernel is compiled.
Tile place_tiles(Arguments& a, const KernelStencil& stencil, Tile tile, std::int64_t first);

/// Whether the first of several tiles so placed begins before the grid, and whether the last ends beyond it.
std::array<bool, 2> outer_tiles(const Arguments& a, const Tile& tile);
constexpr std::array<bool, 2> no_outer_tiles{};

/// Whether rows begin and end between lanes of tiles so placed (see Tile).
std::array<bool, 2> faces_between_lanes(const Arguments& a, const Tile& tile);

/// Whether tiles so placed are written by whole vectors (see Tile).
bool writes_whole_vectors(const Arguments& a, const Tile& tile);

}  // namespace spsolve::cuda
