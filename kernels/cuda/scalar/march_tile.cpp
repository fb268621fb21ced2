// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/scalar/march_tile.hpp"

#include <algorithm>
#include <array>

#include "kernels/cuda/scalar/single_step_tile.hpp"
#include "kernels/rounding.hpp"

namespace spsolve::cuda {
namespace {

/// Describes the shape of a block, and the 32-bit registers per thread that its time levels may take. The
/// rest of the register file holds the window, addresses and operands in flight.
struct BlockShape {
  int warps, rows_per_warp, blocks_per_multiprocessor;
  int star_registers, box_registers;  // boxes need a larger window
};

// Lists shapes for 3D, in order of preference among equals. 12 x 4 and 16 x 3 rows were measured to be best
// for fp32 stars and boxes on H200.
constexpr BlockShape shapes_3d[] = {
    {12, 4, 1, 128, 96}, {16, 3, 1, 64, 48},  {8, 6, 1, 160, 100}, {8, 8, 1, 136, 0},   {16, 2, 1, 64, 48},
    {12, 2, 1, 128, 96}, {8, 4, 1, 160, 128}, {12, 1, 1, 128, 96}, {8, 2, 1, 160, 128}, {8, 1, 1, 160, 128}};
// Lists shapes for 2D and 1D, where each warp is a tile of its own. In 2D fp32 a lane may have 4 or 8 points
// (fp64: 4).
constexpr BlockShape shapes_2d[] = {{1, 1, 16, 40, 40}, {1, 1, 12, 80, 80}, {1, 1, 8, 144, 144}};
// Leaves shared memory for four blocks if stages of wide tiles hold a source, too.
constexpr BlockShape shape_beside_wide_sources{1, 1, 4, 144, 144};

// Counts the registers besides those of sums and of a source that is kept until all levels have used it, for
// tiles of one warp and of several.
constexpr int other_registers_2d = 64, other_registers_3d = 60;
// Limits the rows of tiles with a source: larger tiles are slower in 3D, because more of their halo is read
// from memory instead of the cache.
constexpr int max_rows_with_source = 32;
constexpr int spare_registers = 8;  // for boxes: what box_registers() does not count
constexpr int max_unrolled = 2500;  // operations of a thread per plane: limits compile time and code size

int shared_bytes(const KernelStencil& stencil, const Formats& formats, const MarchTile& tile) {
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

/// Returns the registers that a thread can have, in multiples of the allocation granularity.
int registers_of_thread(const BlockShape& shape) {
  return std::min(255, 65536 / (32 * shape.warps * shape.blocks_per_multiprocessor) / 8 * 8);
}

/// Returns the 32-bit registers for the planes of the source that the levels have not used yet. A single
/// level keeps none.
int source_registers(const KernelStencil& stencil, const MarchTile& tile, int compute_bytes) {
  const bool kept = stencil.with_source && !stencil.two_levels && tile.depth > 1;
  const int planes = kept ? stencil.radius[plane_axis] * (tile.depth - 1) + 1 : 0;
  return planes * tile.rows_per_warp * tile.points_per_lane * compute_bytes / 4;
}

/// Returns the 32-bit registers per thread of a box, as ptxas allocates them: sums and the window. More
/// registers would spill to local memory, which is up to 27 times slower than single steps on H200.
int box_registers(const KernelStencil& stencil, const MarchTile& tile, int compute_bytes) {
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

std::optional<MarchTile> cut_tile(const KernelStencil& stencil, const Formats& formats, int depth,
                                  const BlockShape& shape, int bytes_per_lane, const BlockLimits& limits) {
  const auto [plane_radius, row_radius, column_radius] = stencil.radius;
  MarchTile tile;
  tile.depth = depth;
  tile.warps = shape.warps;
  tile.rows_per_warp = shape.rows_per_warp;
  tile.blocks_per_multiprocessor = shape.blocks_per_multiprocessor;
  tile.stages = plane_radius == 0 ? 2 : shape.warps == 1 ? 8 : 3;  // pipeline depth
  // Without planes ahead there are registers for more points, so that less of a tile is halo. With a source,
  // shared memory has room for half of them.
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
  // A source doubles the shared memory of a stage. If that is too much, fewer stages are in flight.
  tile.shared_bytes = shared_bytes(stencil, formats, tile);
  const int max_shared = static_cast<int>(limits.shared_bytes) / shape.blocks_per_multiprocessor;
  while (stencil.with_source && tile.stages > 2 && tile.shared_bytes > max_shared) {
    --tile.stages;
    tile.shared_bytes = shared_bytes(stencil, formats, tile);
  }

  const int points = tile.rows_per_warp * tile.points_per_lane;
  const int levels = std::max(2 * plane_radius * depth, 1) * points * formats.compute_bytes() / 4,
            source = source_registers(stencil, tile, formats.compute_bytes());
  const auto has_registers = [&] {
    const bool star = stencil.pointwise_completion();
    const int others = shape.warps == 1 ? other_registers_2d : other_registers_3d;
    if (source > 0 && levels + source + others > registers_of_thread(shape)) return false;
    if (star) return levels <= shape.star_registers;
    return levels <= shape.box_registers &&
           (shape.warps == 1 || box_registers(stencil, tile, formats.compute_bytes()) <=
                                    registers_of_thread(shape) - spare_registers);
  };
  const bool fits = has_registers() && row_radius <= tile.rows_per_warp &&
                    tile.points_per_lane <= max_points_per_lane && tile.written_columns() > 0 &&
                    tile.written_rows() > 0 && tile.shared_bytes <= max_shared &&
                    stencil.operations * depth * points <= max_unrolled;
  return fits ? std::optional(tile) : std::nullopt;
}

/// Returns the fraction of a tile that is written.
double useful(const MarchTile& tile) {
  return static_cast<double>(tile.written_columns()) / tile.columns() * tile.written_rows() / tile.rows();
}

/// Returns the time of one step of the whole grid on the busiest scheduler, in issue slots up to a factor.
double busiest(const KernelStencil& stencil, const MarchTile& tile, const BlockLimits& limits) {
  const std::int64_t planes = stencil.shape[plane_axis],
                     tiles = ceil_div(stencil.shape[column_axis], tile.written_columns());
  const int number = stretch_march(single_row_march(tile, planes, tiles, limits)).of_others.number;
  const std::int64_t blocks = ceil_div(tiles * number, limits.multiprocessors);
  return static_cast<double>((ceil_div(planes, number) + tile.warm_up) * tile.points_per_lane) *
         scheduler_time(static_cast<double>(blocks) / schedulers_of_multiprocessor, limits.costs());
}

std::optional<MarchTile> choose_single_row_tile(const KernelStencil& stencil, const Formats& formats,
                                                int depth, const BlockLimits& limits) {
  const auto of_width = [&](int bytes_per_lane) {
    std::optional<MarchTile> tile;
    for (const BlockShape& shape : shapes_2d)
      if (!tile) tile = cut_tile(stencil, formats, depth, shape, bytes_per_lane, limits);
    return tile || !stencil.with_source
               ? tile
               : cut_tile(stencil, formats, depth, shape_beside_wide_sources, bytes_per_lane, limits);
  };
  const auto wide = of_width(32);
  if (formats.compute_bytes() == 8) return wide;
  // Wide tiles have less halo. Narrow tiles share a small grid among more warps.
  const auto narrow = of_width(16);
  return wide && narrow &&
                 busiest(stencil, *wide, limits) <
                     limits.costs().tiles.narrow_hides * busiest(stencil, *narrow, limits)
             ? wide
             : narrow;
}

/// Returns whether the grid is thick enough for march.cuh, which takes ghost points from one reflection of
/// the grid only.
bool takes_grid(const KernelStencil& stencil) {
  for (int k = 0; k < axis_count; ++k)
    if (stencil.has_walls(k) && stencil.shape[k] < stencil.radius[k]) return false;
  return true;
}

}  // namespace

std::optional<MarchTile> choose_march_tile(const KernelStencil& stencil, const Formats& formats, int depth,
                                           const BlockLimits& limits) {
  if (stencil.radius[row_axis] == 0) return choose_single_row_tile(stencil, formats, depth, limits);
  const auto is_large = [&](const MarchTile& tile) {
    return stencil.with_source && tile.rows() > max_rows_with_source;
  };
  const auto is_better = [&](const MarchTile& tile, const MarchTile& other) {
    if (is_large(tile) != is_large(other)) return is_large(other);
    return useful(tile) > useful(other) + 1e-9;
  };
  std::optional<MarchTile> best;
  for (const BlockShape& shape : shapes_3d)
    if (const auto tile = cut_tile(stencil, formats, depth, shape, 16, limits))
      if (!best || is_better(*tile, *best)) best = tile;
  return best;
}

std::optional<MarchTile> two_level_tile(const Domain& domain, const Stencil& stencil, Precision precision,
                                        int steps, const BlockLimits& limits) {
  if (precision != Precision::fp64 && precision != Precision::fp32) return {};
  KernelStencil kernel(domain, stencil, precision, true);
  kernel.two_levels = true;
  if (kernel.has_stepped_planes() || !takes_grid(kernel)) return {};
  return choose_march_tile(kernel, {precision, true, true}, steps, limits);
}

SingleRowMarch single_row_march(const MarchTile& tile, std::int64_t planes, std::int64_t tiles,
                                const BlockLimits& limits) {
  return {.planes = planes,
          .tiles = tiles,
          .warm_up = tile.warm_up,
          .resident = std::int64_t{tile.blocks_per_multiprocessor} * limits.multiprocessors,
          .schedulers = std::int64_t{schedulers_of_multiprocessor} * limits.multiprocessors,
          .costs = &limits.costs()};
}

WallCost wall_cost(const KernelStencil& stencil, const MarchTile& tile, int compute_bytes,
                   const Calibration& costs) {
  if (stencil.radius[plane_axis] == 0) return {};
  // These instructions are counted: one per word of each neighbour beyond the ends of rows, which lies within
  // the points of a lane or after them, and `ghost_planes` per point in blocks near a face across the march.
  // Boxes beside both kinds of faces take longer than this count.
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
  // Below this fraction, redundant computation costs more than the saved memory traffic. A source adds memory
  // traffic.
  const Calibration::Tiles& costs = limits.costs().tiles;
  const double min_useful =
      stencil.with_source && stencil.radius[row_axis] > 0 ? costs.min_useful_with_source : costs.min_useful;
  // These are the largest depths that were measured. Without planes ahead, levels keep no registers, so
  // deeper marches have room.
  const int deepest = stencil.radius[plane_axis] == 0 ? 16 : 8;
  KernelStencil inner = stencil;
  inner.walls = {};
  for (int depth = deepest; depth > 1; --depth)
    if (const auto tile = choose_march_tile(inner, formats, depth, limits);
        tile && useful(*tile) >= min_useful && choose_march_tile(stencil, formats, depth, limits))
      return depth;
  return choose_march_tile(stencil, formats, 1, limits) ? 1 : 0;
}

namespace {

/// Returns whether marches of up to `steps` steps can wrap rows at their ends.
bool march_repeats_rows(const KernelStencil& stencil, Precision precision, int steps, int preferred,
                        const BlockLimits& limits) {
  const std::int64_t columns = stencil.shape[column_axis];
  // Periodic copies of few rows cost little. Kernels of single steps, which advance planes beside neumann
  // faces, would need them as well.
  if (stencil.radius[row_axis] == 0 || columns > max_columns || stencil.has_stepped_planes()) return false;
  for (int depth = 1; depth <= steps; ++depth)
    for (const bool in_stored : {false, true})
      for (const bool out_stored : {false, true}) {
        const auto tile = choose_march_tile(stencil, {precision, in_stored, out_stored}, depth, limits);
        if (!tile && depth > preferred) continue;  // runs as several kernels
        // The tile across the ends begins with half of its columns before the grid. No other tile may begin
        // before the grid or end beyond it.
        if (!tile || columns < tile->columns() ||
            tile->columns() / 2 <= tile->column_margin + tile->across_margin)
          return false;
      }
  return true;
}

}  // namespace

std::array<bool, 3> wrapped_axes(const KernelStencil& stencil, const Region& block, Precision precision,
                                 int steps, const BlockLimits& limits) {
  const Formats formats{precision, true, true};
  const int bytes = formats.in_bytes();
  // Returns whether an axis may repeat if threads read `beyond` points beyond its ends.
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
  std::array<bool, 3> wraps{false, false, rows};
  for (const int axis : {plane_axis, row_axis})
    wraps[axis] =
        may_repeat(axis, stencil.radius[axis]) &&
        (axis != stacked || stencil.counts_rows(2 * stencil.shape[axis], 16 / formats.compute_bytes()));
  // step.cuh counts offsets in 32 bits.
  for (int axis = 0; axis < axis_count; ++axis) wraps[axis] = wraps[axis] && stencil.shape[axis] < 1 << 28;
  return wraps;
}

}  // namespace spsolve::cuda
