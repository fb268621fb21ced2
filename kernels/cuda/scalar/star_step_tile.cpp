// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/scalar/star_step_tile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cuda/launch/launch_shape.hpp"
#include "kernels/cuda/scalar/scalar_constants.hpp"

namespace spsolve::cuda {
namespace {

constexpr int max_taps = 160;                                  // unrolled for every row of a thread
constexpr int max_operations = 1600;                           // per thread and plane
constexpr int other_registers = 36, max_star_registers = 232;  // per thread
constexpr int planes_on_their_way = 4;
constexpr std::int64_t max_waves = 8;  // waves of blocks

/// Counts the work of a thread on a plane: taps per point, and reads of `own_columns` columns each.
struct PlaneWork {
  int taps = 0, reads = 0;
};

/// Counts the work on a plane. If `of_results`, the plane holds results of the block. Other planes skip the
/// taps within the plane of a result.
PlaneWork work_of_plane(const KernelStencil& stencil, int own_rows, int own_columns, bool of_results) {
  const int tile_axis = stencil.tile_axis(), radius = stencil.radius[tile_axis];
  struct VectorRange {
    int begin = 0, end = 0;
  };
  std::vector<VectorRange> of_rows(static_cast<std::size_t>(own_rows + 2 * radius));
  PlaneWork work;
  for (const KernelTap& tap : stencil.taps) {
    if (!of_results && tap.offset[stencil.slow_axis()] == 0) continue;
    ++work.taps;
    const int column = tap.offset[column_axis], begin = floor_div(column, own_columns),
              end = floor_div(column - 1, own_columns) + 2;
    for (int own = 0; own < own_rows; ++own) {
      VectorRange& of = of_rows[static_cast<std::size_t>(own + radius + tap.offset[tile_axis])];
      of = of.begin == of.end ? VectorRange{begin, end}
                              : VectorRange{std::min(of.begin, begin), std::max(of.end, end)};
    }
  }
  for (const VectorRange& of : of_rows) work.reads += of.end - of.begin;
  return work;
}

/// Returns the cycles per plane for 1, 2, ... resident blocks of a multiprocessor. The limits (issue, L2,
/// memory, shared memory) are combined by a 4-norm. A block with one stage waits for its limits one after the
/// other.
std::vector<double> plane_times(const KernelStencil& stencil, const Formats& formats,
                                const StarStepTile& tile, bool of_results, const Calibration& calibration) {
  const Calibration::StarTiles& costs = calibration.star_tiles;
  const PlaneWork work = work_of_plane(stencil, tile.own_rows, tile.own_columns, of_results);
  const int chunk = 16 / formats.in_bytes(), threads = 32 * tile.warps,
            held_rows = tile.rows + 2 * stencil.radius[stencil.tile_axis()];
  const double operand_slots = formats.in_bytes() == 2              ? costs.half_slots
                               : formats.storage == Precision::tf32 ? costs.tf32_slots
                                                                    : 0.0;
  double slots =
      tile.own_rows * (tile.own_columns * work.taps * (formats.compute_bytes() / 4) + costs.row_slots) +
      work.reads * (costs.read_slots + tile.own_columns * operand_slots) +
      ceil_div(held_rows * tile.pitch / chunk, threads) * costs.copy_slots + costs.plane_slots;
  if (tile.stages > 1 && stencil.has_walls(column_axis))
    slots += costs.ghost_slots * (2 + ceil_div(held_rows * stencil.radius[column_axis], threads));
  const auto bytes = [](int rows, int columns, int element) {
    return static_cast<double>(rows) * columns * element;
  };
  const double in = bytes(held_rows, tile.pitch, formats.in_bytes()),
               results_in = bytes(tile.rows, tile.columns, formats.in_bytes()),
               others = bytes(tile.rows, tile.columns,
                              formats.out_bytes() + stencil.with_source * formats.compute_bytes()),
               lines = results_in * held_rows / tile.rows +
                       256.0 * held_rows;  // two more lines at the ends of each row
  const double cache = (lines + others) / costs.cache_bytes,
               memory = (results_in + others + costs.halo_share * (in - results_in)) / costs.memory_bytes,
               shared = tile.warps * work.reads * costs.read_cycles * tile.own_columns / chunk;
  const auto issue = [&](int blocks) {
    return slots * scheduler_time(static_cast<double>(blocks * tile.warps) / schedulers_of_multiprocessor,
                                  calibration);
  };
  const double one = tile.stages == 1 ? issue(1) + cache + memory : 0;
  const auto fourth = [](double time) { return time * time * time * time; };
  std::vector<double> times;
  for (int n = 1; n <= tile.blocks_per_multiprocessor; ++n) {
    const double all =
        std::pow(fourth(issue(n)) + fourth(n * cache) + fourth(n * memory) + fourth(n * shared), 0.25);
    times.push_back(std::hypot(all, one) + costs.plane_cycles / n);
  }
  return times;
}

}  // namespace

StarStepTile cut_star_step_tile(const KernelStencil& stencil, const Region& region, const Formats& formats,
                                const BlockLimits& limits, int lanes_x, int warps, int own_rows) {
  const std::int64_t slow = region.extent(stencil.slow_axis());
  const int row_radius = stencil.radius[stencil.tile_axis()],
            slow_radius = stencil.radius[stencil.slow_axis()];
  const int chunk = 16 / formats.in_bytes(), words = formats.compute_bytes() / 4, threads = 32 * warps,
            taps = static_cast<int>(stencil.taps.size());
  // Square patches of points read the fewest operands; operands of 16 bits must be converted.
  const int own_columns = slow_radius > 0 ? std::min(chunk, 4) : chunk;
  StarStepTile tile{{lanes_x, warps}, own_rows, own_columns};
  tile.stages = slow_radius > 0 || slow > 1 ? planes_on_their_way : 1;
  tile.columns = lanes_x * own_columns;
  tile.rows = threads / lanes_x * own_rows;
  const int margin = round_up(stencil.radius[column_axis], chunk), held_rows = tile.rows + 2 * row_radius;
  tile.pitch = tile.columns + 2 * margin;
  const int chunks = held_rows * tile.pitch / chunk, points = own_rows * own_columns;
  tile.shared_bytes = static_cast<std::size_t>(tile_bytes(chunks, tile.stages, threads));
  const int registers =
      words * (points * (2 * slow_radius + 1 + stencil.with_source) + own_columns + 2 * margin) +
      other_registers;
  if (taps > max_taps || registers > max_star_registers || points * taps > max_operations ||
      !stencil.counts_rows(held_rows, chunk))
    return tile;
  tile.blocks_per_multiprocessor =
      std::min({65536 / (threads * round_up(registers, 8)), 2048 / threads,
                static_cast<int>(limits.shared_bytes / (tile.shared_bytes + 1024))});
  if (tile.blocks_per_multiprocessor == 0) return tile;

  const std::int64_t tiles = ceil_div(region.extent(stencil.tile_axis()), tile.rows) *
                             ceil_div(region.extent(column_axis), tile.columns);
  const std::vector<double> of_results = plane_times(stencil, formats, tile, true, limits.costs()),
                            beside = plane_times(stencil, formats, tile, false, limits.costs());
  const Calibration::StarTiles& costs = limits.costs().star_tiles;
  tile.cycles = std::numeric_limits<double>::infinity();
  const std::int64_t resident = std::int64_t{tile.blocks_per_multiprocessor} * limits.multiprocessors,
                     max_stretches = std::min(slow, ceil_div(max_waves * resident, tiles));
  for (std::int64_t stretches = 1; stretches <= max_stretches; ++stretches) {
    const std::int64_t planes = ceil_div(slow, stretches);
    const auto together = [&](double blocks) {
      const auto k = static_cast<std::size_t>(blocks) - 1;
      return costs.block_cycles + static_cast<double>(planes) * of_results[k] + 2 * slow_radius * beside[k];
    };
    const double cycles =
        costs.start_cycles + time_of_waves(tiles * ceil_div(slow, planes), tile.blocks_per_multiprocessor,
                                           limits.multiprocessors, together);
    if (cycles >= tile.cycles) continue;
    tile.cycles = cycles;
    tile.planes = static_cast<int>(planes);
  }
  return tile;
}

std::string constants_text(const KernelStencil& stencil, const Formats& formats, const StarStepTile& tile) {
  // All sums are shifted by one position with each plane. In this order each sum is read before its new place
  // is written, so that no registers are moved.
  KernelStencil ordered = stencil;
  const int slow = stencil.slow_axis();
  std::stable_sort(ordered.taps.begin(), ordered.taps.end(),
                   [&](const KernelTap& a, const KernelTap& b) { return a.offset[slow] > b.offset[slow]; });
  ConstantsText text = tap_constants(ordered, formats);
  tile.put_constants(text);
  text.integer("own_rows", tile.own_rows);
  text.integer("own_columns", tile.own_columns);
  text.integer("stages", tile.stages);
  return text.finished();
}

}  // namespace spsolve::cuda
