// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "kernels/cuda/scalar/march_tile.hpp"
#include "kernels/cuda/scalar/scalar_arguments.hpp"

namespace spsolve::cuda {

/// Extends the columns [begin, end) of a region, counted from where rows are aligned to 64 bytes, to whole
/// vectors of a thread. It does so for rows of `scratch` memory, and at the end of a grid that ends at a wall
/// if rows are padded to 64 bytes there.
///
/// Sweeps on tensor cores read that padding with weights of zero, so march.cuh writes zeros to it. Rows in
/// fp16 are not extended, because values that were written there earlier could overflow.
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
