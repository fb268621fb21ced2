// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/scalar/tile.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "kernels/cuda/scalar/single_tile.hpp"
#include "kernels/rounding.hpp"

namespace spsolve::cuda {
namespace {

/// A way to cut a block, and the 32-bit registers per thread that its time levels may take. The rest of the
/// register file is for the window, addresses and operands on their way.
struct Cut {
  int warps, rows_per_warp, blocks_per_multiprocessor;
  int star_registers, box_registers;  // boxes need a larger window
};

// 3D, in order of preference among equals. 12 x 4 and 16 x 3 rows: measured best for fp32 stars and boxes on
// H200.
constexpr Cut cuts_3d[] = {{12, 4, 1, 128, 96}, {16, 3, 1, 64, 48},  {8, 6, 1, 160, 100}, {8, 8, 1, 136, 0},
                           {16, 2, 1, 64, 48},  {12, 2, 1, 128, 96}, {8, 4, 1, 160, 128}, {12, 1, 1, 128, 96},
                           {8, 2, 1, 160, 128}, {8, 1, 1, 160, 128}};
// 2D and 1D: a warp is a tile of its own. In 2D fp32 it may have 4 or 8 points per lane (fp64: 4).
constexpr Cut cuts_2d[] = {{1, 1, 16, 40, 40}, {1, 1, 12, 80, 80}, {1, 1, 8, 144, 144}};
constexpr Cut beside_wide_sources{1, 1, 4, 144, 144};  // which leave shared memory for no more

// Beside those of sums and of a source that is kept until all levels have passed: of tiles of one warp, and
// of several.
constexpr int other_registers_2d = 64, other_registers_3d = 60;
// With a source, larger tiles are slower in 3D: more of their halos is read from memory, not from the cache.
constexpr int most_rows_with_source = 32;
constexpr int spare_registers = 8;   // of boxes, for what box_registers() does not count
constexpr int most_unrolled = 2500;  // operations on one plane in one thread: compile time, instruction cache

int shared_bytes(const KernelStencil& stencil, const Formats& formats, const Tile& tile) {
  const int radius = stencil.radius[row_axis];
  const int levels = radius == 0 ? 0 : stencil.pointwise_completion() ? tile.depth : 1;
  const int point = formats.in_bytes() + (stencil.with_source ? formats.compute_bytes() : 0);
  const int ring = tile.stages * (tile.rows() * tile.columns() * point + 8);
  const int edges = 2 * std::max(levels, 1) * tile.warps * std::max(2 * radius, 1) * tile.columns() *
                    formats.compute_bytes();
  const bool keeps_last_plane = stencil.mirrors_planes() && stencil.walls[plane_axis][high] == Wall::neumann;
  const int last_plane = keeps_last_plane ? tile.rows() * tile.columns() * formats.compute_bytes() : 0;
  return round_up(ring, 128) + round_up(edges, 128) + last_plane;
}

/// Of the register file, in the portions in which it is given out.
int registers_of_thread(const Cut& cut) {
  return std::min(255, 65536 / (32 * cut.warps * cut.blocks_per_multiprocessor) / 8 * 8);
}

/// 32-bit registers of the planes of the source that the levels of a tile have reached; one level alone keeps
/// none.
int source_registers(const KernelStencil& stencil, const Tile& tile, int compute_bytes) {
  const bool kept = stencil.with_source && tile.depth > 1;
  const int planes = kept ? stencil.radius[plane_axis] * (tile.depth - 1) + 1 : 0;
  return planes * tile.rows_per_warp * tile.points_per_lane * compute_bytes / 4;
}

/// 32-bit registers that a box takes per thread, as ptxas does: sums and the points that are read. More are
/// kept in local memory, which is up to 27 times slower than single steps on H200.
int box_registers(const KernelStencil& stencil, const Tile& tile, int compute_bytes) {
  const int columns = tile.points_per_lane, window_columns = columns + 2 * stencil.radius[column_axis];
  const int sums = 2 * stencil.radius[plane_axis] * tile.depth * tile.rows_per_warp * columns,
            window = (tile.rows_per_warp + 2 * stencil.radius[row_axis]) * window_columns;
  return (sums + window) * compute_bytes / 4 + source_registers(stencil, tile, compute_bytes);
}

int warm_up_loops(const KernelStencil& stencil, const Formats& formats, int depth) {
  const bool apart =
      warms_up_apart(stencil.radius[row_axis] > 0, stencil.pointwise_completion(), formats.compute_bytes());
  return apart ? warm_up_phases(depth) : 1;
}

std::optional<Tile> cut_tile(const KernelStencil& stencil, const Formats& formats, int depth, const Cut& cut,
                             int bytes_per_lane, const BlockLimits& limits) {
  const auto [plane_radius, row_radius, column_radius] = stencil.radius;
  Tile tile;
  tile.depth = depth;
  tile.warps = cut.warps;
  tile.rows_per_warp = cut.rows_per_warp;
  tile.blocks_per_multiprocessor = cut.blocks_per_multiprocessor;
  tile.stages = plane_radius == 0 ? 2 : cut.warps == 1 ? 8 : 3;  // how far copies run ahead
  // Without a march there are registers for more, so that less of a tile is halo; with a source, shared
  // memory for half of it.
  const int widest = stencil.with_source && row_radius > 0 ? 32 : 64;
  tile.points_per_lane = (plane_radius == 0 ? widest : bytes_per_lane) / formats.compute_bytes();
  while (tile.points_per_lane < column_radius) tile.points_per_lane *= 2;
  const int granule = 16 / std::min(formats.in_bytes(), formats.out_bytes());
  tile.column_margin = round_up(depth * column_radius, granule);
  tile.across_margin = round_up(tile.column_margin, 2 * granule);  // sectors of 32 bytes
  tile.row_margin = depth * row_radius;
  const std::int64_t rows = stencil.shape[row_axis];
  tile.faces_between_warps = rows >= tile.rows() || rows % tile.rows_per_warp == 0;
  if (const int halo = depth * plane_radius; halo > 0)
    tile.warm_up = halo + halo / warm_up_loops(stencil, formats, depth) + 2;
  // A source takes as much shared memory again: where that is too much, copies run less far ahead.
  tile.shared_bytes = shared_bytes(stencil, formats, tile);
  const int most_shared = static_cast<int>(limits.shared_bytes) / cut.blocks_per_multiprocessor;
  while (stencil.with_source && tile.stages > 2 && tile.shared_bytes > most_shared) {
    --tile.stages;
    tile.shared_bytes = shared_bytes(stencil, formats, tile);
  }

  const int points = tile.rows_per_warp * tile.points_per_lane;
  const int levels = std::max(2 * plane_radius * depth, 1) * points * formats.compute_bytes() / 4,
            source = source_registers(stencil, tile, formats.compute_bytes());
  const auto has_registers = [&] {
    const bool star = stencil.pointwise_completion();
    const int others = cut.warps == 1 ? other_registers_2d : other_registers_3d;
    if (source > 0 && levels + source + others > registers_of_thread(cut)) return false;
    if (star) return levels <= cut.star_registers;
    return levels <= cut.box_registers &&
           (cut.warps == 1 || box_registers(stencil, tile, formats.compute_bytes()) <=
                                  registers_of_thread(cut) - spare_registers);
  };
  const bool fits = has_registers() && row_radius <= tile.rows_per_warp &&
                    tile.points_per_lane <= most_points_per_lane && tile.written_columns() > 0 &&
                    tile.written_rows() > 0 && tile.shared_bytes <= most_shared &&
                    stencil.operations * depth * points <= most_unrolled;
  return fits ? std::optional(tile) : std::nullopt;
}

/// The part of a tile that is written.
double useful(const Tile& tile) {
  return static_cast<double>(tile.written_columns()) / tile.columns() * tile.written_rows() / tile.rows();
}

/// What one step of the whole grid takes of the busiest scheduler, in issue slots up to a factor.
double busiest(const KernelStencil& stencil, const Tile& tile, const BlockLimits& limits) {
  const std::int64_t planes = stencil.shape[plane_axis],
                     tiles = ceil_div(stencil.shape[column_axis], tile.written_columns());
  const int number = stretch_march(flat_march(tile, planes, tiles, limits)).of_others.number;
  const std::int64_t blocks = ceil_div(tiles * number, limits.multiprocessors);
  return static_cast<double>((ceil_div(planes, number) + tile.warm_up) * tile.points_per_lane) *
         scheduler_time(static_cast<double>(blocks) / schedulers_of_multiprocessor, limits.costs());
}

std::optional<Tile> choose_flat_tile(const KernelStencil& stencil, const Formats& formats, int depth,
                                     const BlockLimits& limits) {
  const auto of_width = [&](int bytes_per_lane) {
    std::optional<Tile> tile;
    for (const Cut& cut : cuts_2d)
      if (!tile) tile = cut_tile(stencil, formats, depth, cut, bytes_per_lane, limits);
    return tile || !stencil.with_source
               ? tile
               : cut_tile(stencil, formats, depth, beside_wide_sources, bytes_per_lane, limits);
  };
  const auto wide = of_width(32);
  if (formats.compute_bytes() == 8) return wide;
  // Wide tiles have less halo, narrow ones share a small grid among more warps.
  const auto narrow = of_width(16);
  return wide && narrow &&
                 busiest(stencil, *wide, limits) <
                     limits.costs().tiles.narrow_hides * busiest(stencil, *narrow, limits)
             ? wide
             : narrow;
}

/// march.cuh takes ghosts from within one mirror image of the grid.
bool takes_grid(const KernelStencil& stencil) {
  for (int k = 0; k < axis_count; ++k)
    if (stencil.has_walls(k) && stencil.shape[k] < stencil.radius[k]) return false;
  return true;
}

}  // namespace

std::optional<Tile> choose_tile(const KernelStencil& stencil, const Formats& formats, int depth,
                                const BlockLimits& limits) {
  if (stencil.radius[row_axis] == 0) return choose_flat_tile(stencil, formats, depth, limits);
  const auto is_large = [&](const Tile& tile) {
    return stencil.with_source && tile.rows() > most_rows_with_source;
  };
  const auto is_better = [&](const Tile& tile, const Tile& other) {
    if (is_large(tile) != is_large(other)) return is_large(other);
    return useful(tile) > useful(other) + 1e-9;
  };
  std::optional<Tile> best;
  for (const Cut& cut : cuts_3d)
    if (const auto tile = cut_tile(stencil, formats, depth, cut, 16, limits))
      if (!best || is_better(*tile, *best)) best = tile;
  return best;
}

FlatMarch flat_march(const Tile& tile, std::int64_t planes, std::int64_t tiles, const BlockLimits& limits) {
  return {.planes = planes,
          .tiles = tiles,
          .warm_up = tile.warm_up,
          .resident = std::int64_t{tile.blocks_per_multiprocessor} * limits.multiprocessors,
          .schedulers = std::int64_t{schedulers_of_multiprocessor} * limits.multiprocessors,
          .costs = &limits.costs()};
}

WallCost wall_cost(const KernelStencil& stencil, const Tile& tile, int compute_bytes,
                   const Calibration& costs) {
  if (stencil.radius[plane_axis] == 0) return {};
  // Instructions: one per word of a neighbour beyond the ends of rows, which is within the points of a lane
  // or after them; per point of blocks near a face across the march. Boxes beside both take longer than that.
  const int radius = stencil.radius[column_axis];
  const bool between = stencil.shape[column_axis] % tile.points_per_lane == 0 &&
                       tile.column_margin % tile.points_per_lane == 0;
  const int neighbours = radius * (1 + (between ? 1 : tile.points_per_lane + radius - 1));
  const double sums = stencil.operations + radius,
               columns = neighbours * (compute_bytes / 4.0) / tile.points_per_lane +
                         (stencil.has_ghost_planes() && !stencil.pointwise_completion()
                              ? costs.tiles.boxes_beside_both
                              : 0.0);
  return {stencil.has_walls(column_axis) ? columns / sums : 0.0,
          stencil.has_ghost_planes() ? costs.tiles.ghost_planes / sums : 0.0};
}

int preferred_depth(const KernelStencil& stencil, const Formats& formats, const BlockLimits& limits) {
  if (!takes_grid(stencil)) return 0;
  // Below, computing twice costs more than the memory traffic saved, of which a source makes more.
  const Calibration::Tiles& costs = limits.costs().tiles;
  const double least_useful = stencil.with_source && stencil.radius[row_axis] > 0
                                  ? costs.least_useful_with_source
                                  : costs.least_useful;
  // Measured; without a march levels keep no registers.
  const int deepest = stencil.radius[plane_axis] == 0 ? 16 : 8;
  KernelStencil inner = stencil;
  inner.walls = {};
  for (int depth = deepest; depth > 1; --depth)
    if (const auto tile = choose_tile(inner, formats, depth, limits);
        tile && useful(*tile) >= least_useful && choose_tile(stencil, formats, depth, limits))
      return depth;
  return choose_tile(stencil, formats, 1, limits) ? 1 : 0;
}

namespace {

/// Of marches of up to `steps` steps: whether rows repeat.
bool march_repeats_rows(const KernelStencil& stencil, Precision precision, int steps, int preferred,
                        const BlockLimits& limits) {
  const std::int64_t columns = stencil.shape[column_axis];
  // Images of few rows cost little; kernels of single steps take planes beside neumann faces.
  if (stencil.radius[row_axis] == 0 || columns > most_columns || stencil.steps_planes()) return false;
  for (int depth = 1; depth <= steps; ++depth)
    for (const bool in_stored : {false, true})
      for (const bool out_stored : {false, true}) {
        const auto tile = choose_tile(stencil, {precision, in_stored, out_stored}, depth, limits);
        if (!tile && depth > preferred) continue;  // several kernels
        // A tile across the ends begins with half of it; no other may begin with the grid, or reach beyond
        // it.
        if (!tile || columns < tile->columns() ||
            tile->columns() / 2 <= tile->column_margin + tile->across_margin)
          return false;
      }
  return true;
}

}  // namespace

std::array<bool, 3> repeating_axes(const KernelStencil& stencil, const Region& block, Precision precision,
                                   int steps, const BlockLimits& limits) {
  const Formats formats{precision, true, true};
  const int bytes = formats.in_bytes();
  // Whether an axis may, given how far beyond its ends threads read.
  const auto may_repeat = [&](int axis, int beyond) {
    return stencil.radius[axis] > 0 && !stencil.has_walls(axis) &&
           block.extent(axis) == stencil.shape[axis] && stencil.shape[axis] >= beyond;
  };
  const bool whole_rows = stencil.shape[column_axis] * bytes % 16 == 0,
             rows = whole_rows && may_repeat(column_axis, stencil.radius[column_axis] + 16 / bytes);
  if (const int preferred = preferred_depth(stencil, formats, limits); preferred > 0)
    return {false, false, rows && march_repeats_rows(stencil, precision, steps, preferred, limits)};
  if (steps > 1 || !choose_single_step(stencil, block, formats, limits).tile) return {};
  const int stacked = stencil.tile_axis();
  std::array<bool, 3> repeats{false, false, rows};
  for (const int axis : {plane_axis, row_axis})
    repeats[axis] =
        may_repeat(axis, stencil.radius[axis]) &&
        (axis != stacked || stencil.counts_rows(2 * stencil.shape[axis], 16 / formats.compute_bytes()));
  // step.cuh counts offsets in 32 bits.
  for (int axis = 0; axis < axis_count; ++axis)
    repeats[axis] = repeats[axis] && stencil.shape[axis] < 1 << 28;
  return repeats;
}

std::array<std::int64_t, 2> in_whole_vectors(const std::array<std::int64_t, 2>& columns, const Tile& tile,
                                             const Formats& formats, bool scratch, bool ends_at_wall) {
  constexpr int room = 64;  // bytes
  const auto [begin, end] = columns;
  const std::int64_t together = tile.points_per_lane;
  if (tile.column_margin % together != 0) return columns;
  if (scratch) return {round_down(begin, together), round_up(end, together)};
  const bool has_room =
      ends_at_wall && formats.storage != Precision::fp16 && together * formats.out_bytes() <= room;
  return {begin, has_room && begin % together == 0 ? round_up(end, together) : end};
}

void place_column_tiles(Arguments& a, const Tile& tile, std::int64_t first) {
  const std::int64_t written = tile.written_columns(), period = a.row_period;
  a.first_column = first - tile.column_margin;
  a.column_tiles = static_cast<int>(ceil_div(a.region.end[column_axis] - first, written));
  if (period == 0) return;
  const std::int64_t across = tile.columns() / 2 - tile.across_margin;  // of its columns beyond either end
  a.region.begin[column_axis] = -across;
  a.region.end[column_axis] = period - across;
  a.first_column = across - tile.column_margin - written;
  a.column_tiles = static_cast<int>(1 + ceil_div(period - 2 * across, written));
}

RowTiles tiles_of_rows(const Region& region, const KernelStencil& stencil, const Tile& tile) {
  return {region.begin[row_axis], region.end[row_axis],       stencil.shape[row_axis], tile.rows(),
          tile.row_margin,        stencil.has_walls(row_axis)};
}

void keep_tiles_from_walls(Arguments& a, const Tile& tile) {
  const std::int64_t written = tile.written_columns(), margin = tile.column_margin;
  const std::int64_t first_of_last = a.first_column + margin + (a.column_tiles - 1) * written;
  // By so much the tile before the last reaches beyond the wall, and by so much tiles may be moved.
  const std::int64_t beyond = round_up(first_of_last + margin - a.shape[column_axis], most_points_per_lane);
  const std::int64_t room =
      std::min<std::int64_t>(written - margin, first_of_last + written - a.region.end[column_axis]);
  if (a.column_tiles > 1 && beyond > 0 && beyond <= room) a.first_column -= beyond;
}

Tile place_tiles(Arguments& a, const KernelStencil& stencil, Tile tile, std::int64_t first) {
  const bool has_ends = stencil.has_walls(column_axis), is_line = stencil.radius[plane_axis] == 0;
  place_column_tiles(a, tile, first);
  if (has_ends && !is_line) keep_tiles_from_walls(a, tile);  // of lines, tiles begin where memory's lines do
  tile.whole_vectors = writes_whole_vectors(a, tile);
  if (has_ends) tile.faces_between_lanes = faces_between_lanes(a, tile);
  return tile;
}

std::array<bool, 2> outer_tiles(const Arguments& a, const Tile& tile) {
  const std::int64_t end = a.first_column + (a.column_tiles - 1) * tile.written_columns() + tile.columns();
  const bool several = a.column_tiles > 1;
  return {several && a.first_column < 0, several && end > a.shape[column_axis]};
}

std::array<bool, 2> faces_between_lanes(const Arguments& a, const Tile& tile) {
  const auto is_whole = [&](std::int64_t columns) { return columns % tile.points_per_lane == 0; };
  const bool tiles = a.column_tiles == 1 || is_whole(tile.written_columns());
  return {tiles && is_whole(a.first_column), tiles && is_whole(a.shape[column_axis] - a.first_column)};
}

bool writes_whole_vectors(const Arguments& a, const Tile& tile) {
  const std::int64_t ends[] = {a.region.begin[column_axis] - a.first_column,
                               a.region.end[column_axis] - a.first_column, tile.column_margin,
                               a.row_period ? tile.across_margin : 0};
  return std::all_of(std::begin(ends), std::end(ends),
                     [&](std::int64_t end) { return end % tile.points_per_lane == 0; });
}

}  // namespace spsolve::cuda
