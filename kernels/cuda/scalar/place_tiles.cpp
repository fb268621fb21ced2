// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/scalar/place_tiles.hpp"

#include <algorithm>

#include "kernels/rounding.hpp"

namespace spsolve::cuda {

std::array<std::int64_t, 2> in_whole_vectors(const std::array<std::int64_t, 2>& columns,
                                             const MarchTile& tile, const Formats& formats, bool scratch,
                                             bool ends_at_wall) {
  constexpr int room = 64;  // bytes of padding
  const auto [begin, end] = columns;
  const std::int64_t together = tile.points_per_lane;
  if (tile.column_margin % together != 0) return columns;
  if (scratch) return {round_down(begin, together), round_up(end, together)};
  const bool has_room =
      ends_at_wall && formats.storage != Precision::fp16 && together * formats.out_bytes() <= room;
  return {begin, has_room && begin % together == 0 ? round_up(end, together) : end};
}

void place_column_tiles(ScalarArguments& a, const MarchTile& tile, std::int64_t first) {
  const std::int64_t written = tile.written_columns(), period = a.row_period;
  a.first_column = first - tile.column_margin;
  a.column_tiles = static_cast<int>(ceil_div(a.region.end[column_axis] - first, written));
  if (period == 0) return;
  const std::int64_t across =
      tile.columns() / 2 - tile.across_margin;  // its written columns beyond either end
  a.region.begin[column_axis] = -across;
  a.region.end[column_axis] = period - across;
  a.first_column = across - tile.column_margin - written;
  a.column_tiles = static_cast<int>(1 + ceil_div(period - 2 * across, written));
}

RowTiles tiles_of_rows(const Region& region, const KernelStencil& stencil, const MarchTile& tile) {
  return {region.begin[row_axis], region.end[row_axis],       stencil.shape[row_axis], tile.rows(),
          tile.row_margin,        stencil.has_walls(row_axis)};
}

void keep_tiles_from_walls(ScalarArguments& a, const MarchTile& tile) {
  const std::int64_t written = tile.written_columns(), margin = tile.column_margin;
  const std::int64_t first_of_last = a.first_column + margin + (a.column_tiles - 1) * written;
  // The tile before the last reaches beyond the wall by `beyond` columns; tiles may be moved by `room`
  // columns.
  const std::int64_t beyond = round_up(first_of_last + margin - a.shape[column_axis], max_points_per_lane);
  const std::int64_t room =
      std::min<std::int64_t>(written - margin, first_of_last + written - a.region.end[column_axis]);
  if (a.column_tiles > 1 && beyond > 0 && beyond <= room) a.first_column -= beyond;
}

MarchTile place_tiles(ScalarArguments& a, const KernelStencil& stencil, MarchTile tile, std::int64_t first) {
  const bool has_ends = stencil.has_walls(column_axis), is_line = stencil.radius[plane_axis] == 0;
  place_column_tiles(a, tile, first);
  if (has_ends && !is_line)
    keep_tiles_from_walls(a, tile);  // tiles of 1D grids stay at cache lines of memory
  tile.whole_vectors = writes_whole_vectors(a, tile);
  if (has_ends) tile.faces_between_lanes = faces_between_lanes(a, tile);
  return tile;
}

std::array<bool, 2> outer_tiles(const ScalarArguments& a, const MarchTile& tile) {
  const std::int64_t end = a.first_column + (a.column_tiles - 1) * tile.written_columns() + tile.columns();
  const bool several = a.column_tiles > 1;
  return {several && a.first_column < 0, several && end > a.shape[column_axis]};
}

std::array<bool, 2> faces_between_lanes(const ScalarArguments& a, const MarchTile& tile) {
  const auto is_whole = [&](std::int64_t columns) { return columns % tile.points_per_lane == 0; };
  const bool tiles = a.column_tiles == 1 || is_whole(tile.written_columns());
  return {tiles && is_whole(a.first_column), tiles && is_whole(a.shape[column_axis] - a.first_column)};
}

bool writes_whole_vectors(const ScalarArguments& a, const MarchTile& tile) {
  const std::int64_t ends[] = {a.region.begin[column_axis] - a.first_column,
                               a.region.end[column_axis] - a.first_column, tile.column_margin,
                               a.row_period ? tile.across_margin : 0};
  return std::ranges::all_of(ends, [&](std::int64_t end) { return end % tile.points_per_lane == 0; });
}

}  // namespace spsolve::cuda
