// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/scalar/box_step_tile.hpp"

#include <algorithm>
#include <vector>

#include "kernels/cuda/launch/launch_shape.hpp"
#include "kernels/cuda/scalar/scalar_constants.hpp"

namespace spsolve::cuda {
namespace {

constexpr int bytes_of_thread = 64;    // bytes of the columns in each of the two rows of a thread
constexpr int max_warps = 16;          // per multiprocessor: a thread takes 128 registers
constexpr int max_column_radius = 24;  // a window is held in registers

/// Returns the extents of the stencil's bounding box; taps of weight zero count too.
Index3 box_of(const KernelStencil& stencil) {
  const auto& radius = stencil.radius;
  return {2 * radius[plane_axis] + 1, 2 * radius[row_axis] + 1, 2 * radius[column_axis] + 1};
}

}  // namespace

BoxStepTile cut_box_step_tile(const KernelStencil& stencil, const Region& region, const Formats& formats,
                              const BlockLimits& limits, int lanes_x, int warps, int planes) {
  const Calibration::BoxTiles& costs = limits.costs().box_tiles;
  const int compute_bytes = formats.compute_bytes();
  const std::int64_t region_planes = region.extent(stencil.slow_axis()),
                     region_rows = region.extent(stencil.tile_axis()),
                     region_columns = region.extent(column_axis);
  const int rows_radius = stencil.radius[stencil.tile_axis()], column_radius = stencil.radius[column_axis],
            held_planes = 2 * stencil.radius[stencil.slow_axis()] + planes;
  const int chunk = 16 / compute_bytes, own_columns = bytes_of_thread / compute_bytes;
  BoxStepTile tile{{lanes_x, warps, planes}};
  tile.columns = lanes_x * own_columns;
  tile.rows = 2 * 32 / lanes_x * warps;
  const int held_rows = tile.rows + 2 * rows_radius,
            held_columns = tile.columns + 2 * round_up(column_radius, chunk);
  // Rows consist of chunks of 16 bytes, with one chunk of padding after every four. Lanes that read together
  // belong to several rows if fewer than eight lie along x; the pitch keeps them in different banks.
  int chunks = held_columns / chunk;
  chunks += ceil_div(chunks, 4);
  chunks += static_cast<int>(wrap(lanes_x / 2 - chunks, 4));
  tile.pitch = chunks * chunk;
  const Index3 box = box_of(stencil);
  tile.shared_bytes = static_cast<std::size_t>(tile_bytes(chunks * held_rows, 1, 32 * warps)) +
                      static_cast<std::size_t>(box[0] * box[1] * round_up(box[2], chunk) * compute_bytes);
  if (column_radius > max_column_radius || !stencil.counts_rows(held_rows, chunk)) return tile;
  tile.blocks_per_multiprocessor =
      std::min(max_warps / warps, static_cast<int>(limits.shared_bytes / (tile.shared_bytes + 1024)));
  if (tile.blocks_per_multiprocessor == 0) return tile;

  // Returns the share of tiles along an axis without ghost points.
  const auto inside = [&](int axis, std::int64_t extent, int of_tile) {
    return stencil.has_walls(axis) ? std::max(0.0, 1 - 2.0 * of_tile / static_cast<double>(extent)) : 1.0;
  };
  const double within_rows = inside(column_axis, region_columns, tile.columns),
               beside_walls = 1 - inside(stencil.tile_axis(), region_rows, tile.rows) * within_rows;
  const bool converts = formats.in_bytes() < compute_bytes || formats.storage == Precision::tf32;
  const int threads = 32 * warps;
  const double sums = costs.sum_slots * (2 * rows_radius + 1) * (2 * column_radius + 1) * 2 * own_columns *
                      (compute_bytes == 8 ? 2 : 1),
               rows = (2 * rows_radius + 2) * (costs.row_slots + 2.0 * column_radius / chunk),
               read = (costs.copy_slots + (converts ? costs.convert_slots : 0.0)) *
                      ceil_div(held_rows * (held_columns / chunk), threads),
               ghosts = beside_walls * costs.wall_slots +
                        (1 - within_rows) * costs.ghost_slots * ceil_div(held_rows * column_radius, threads),
               slots = held_planes * (rows + read + costs.plane_slots + ghosts) +
                       planes * (held_planes + 1 - planes) * sums;
  const std::int64_t blocks = ceil_div(region_planes, std::int64_t{planes}) *
                              ceil_div(region_rows, tile.rows) * ceil_div(region_columns, tile.columns);
  // Resident blocks hide each other's reads.
  const auto together = [&](double number) {
    const auto issue = [&](double n) {
      return slots * scheduler_time(n * warps / schedulers_of_multiprocessor, limits.costs());
    };
    return std::max(issue(number) * (1 + costs.apart / number), issue(1) + held_planes * costs.read_cycles);
  };
  tile.cycles = costs.start_cycles +
                time_of_waves(blocks, tile.blocks_per_multiprocessor, limits.multiprocessors, together);
  return tile;
}

std::string constants_text(const KernelStencil& stencil, const Formats& formats, const BoxStepTile& tile) {
  ConstantsText text = scalar_constants(stencil, formats);
  tile.put_constants(text);
  text.integer("own_planes", tile.planes);
  const Index3 box = box_of(stencil);
  text.flag("all_taps", static_cast<std::int64_t>(stencil.taps.size()) == box[0] * box[1] * box[2]);
  // The order is [slow axis][row of a tile][column]. It equals the order of planes and rows, since one of
  // these two axes has no taps.
  const std::int64_t pitch = round_up(box[2], 16 / formats.compute_bytes());
  text.integer("weight_pitch", pitch);
  std::vector<double> weights(static_cast<std::size_t>(box[0] * box[1] * pitch), 0.0);
  for (const KernelTap& tap : stencil.taps) {
    const auto [plane, row, column] = tap.offset;
    const std::int64_t rows = (plane + stencil.radius[0]) * box[1] + row + stencil.radius[1];
    weights[static_cast<std::size_t>(rows * pitch + column + stencil.radius[2])] = tap.weight;
  }
  text.line("__device__ alignas(16) const Compute weights[] = {");
  for (const double weight : weights) text.line(ConstantsText::number(weight) + ",");
  text.line("};");
  return text.finished();
}

}  // namespace spsolve::cuda
