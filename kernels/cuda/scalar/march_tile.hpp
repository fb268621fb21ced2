// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "kernels/cuda/launch/launch_shape.hpp"
#include "kernels/cuda/runtime/block_limits.hpp"
#include "kernels/cuda/scalar/kernel_stencil.hpp"

namespace spsolve::cuda {

constexpr int max_points_per_lane = 16;  // along x, at most, in any tile

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

/// Returns the periodic axes whose ends the kernels connect by themselves, so that memory needs no periodic
/// copies, for launches of up to `steps` steps. Candidates are the axes that `block`, the largest block,
/// spans completely.
///
/// Rows must consist of whole vectors of 16 bytes. If the stencil is marched, only rows of 3D grids that hold
/// at least one tile can repeat. If single steps use tiles in shared memory, every axis can repeat that is at
/// least as long as the stencil reaches.
std::array<bool, 3> wrapped_axes(const KernelStencil& stencil, const Region& block, Precision precision,
                                 int steps, const BlockLimits& limits);

/// Extends the columns [begin, end) of a region, counted from where rows are aligned to 64 bytes, to whole
/// vectors of a thread. It does so for rows of `scratch` memory, and at the end of a grid that ends at a wall
/// if rows are padded to 64 bytes there.
///
/// Sweeps on tensor cores read that padding with weights of zero, therefore march.cuh writes zeros to it.
/// fp16 is not extended: values written there earlier could overflow, and writing zeros has not been
/// measured.
std::array<std::int64_t, 2> in_whole_vectors(const std::array<std::int64_t, 2>& columns,
                                             const MarchTile& tile, const Formats& formats, bool scratch,
                                             bool ends_at_wall);

/// Places the tiles along x; the first tile writes from column `first` of the region on. If rows repeat, the
/// first tile lies across their ends, and the region is rotated so that it begins with that tile.
void place_column_tiles(ScalarArguments& a, const MarchTile& tile, std::int64_t first);

/// Returns how the rows of a region are divided into tiles.
RowTiles tiles_of_rows(const Region& region, const KernelStencil& stencil, const MarchTile& tile);

/// Moves placed tiles towards the beginning of rows so that only the last tile reaches beyond the end of the
/// grid, if the second tile stays inside. Blocks beside walls take longer than others, so fewer of them are
/// better.
void keep_tiles_from_walls(ScalarArguments& a, const MarchTile& tile);

/// Places the tiles of a launch over a.region with place_column_tiles() and keep_tiles_from_walls(). Returns
/// the tile as its kernel is compiled.
MarchTile place_tiles(ScalarArguments& a, const KernelStencil& stencil, MarchTile tile, std::int64_t first);

/// Returns whether the first of several placed tiles begins before the grid, and whether the last one ends
/// beyond it.
std::array<bool, 2> outer_tiles(const ScalarArguments& a, const MarchTile& tile);
constexpr std::array<bool, 2> no_outer_tiles{};

/// Returns whether rows begin, and whether they end, between two lanes of placed tiles (see MarchTile).
std::array<bool, 2> faces_between_lanes(const ScalarArguments& a, const MarchTile& tile);

/// Returns whether placed tiles are written by whole vectors (see MarchTile).
bool writes_whole_vectors(const ScalarArguments& a, const MarchTile& tile);

}  // namespace spsolve::cuda
