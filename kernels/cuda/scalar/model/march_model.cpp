// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <set>

#include "kernels/cuda/launch/launch_time.hpp"
#include "kernels/cuda/scalar/model/march_model.hpp"
#include "kernels/cuda/scalar/place_tiles.hpp"

namespace spsolve::cuda {
namespace {

/// Describes how a march is launched over a region (ScalarUnit::launch_march()), and the work that it
/// executes.
struct MarchLaunch {
  MarchTile tile;
  double planes_per_block;  // with the warm-up
  std::int64_t blocks;
  double warps;         // warps of the busiest scheduler
  std::int64_t waves;   // waves of resident blocks
  double executed = 0;  // points, per step: halos of tiles, idle multiprocessors

  MarchLaunch(const MarchModel& march, const MarchTile& cut, const std::array<std::int64_t, 3>& region)
      : tile(cut) {
    const std::int64_t column_tiles = ceil_div(region[column_axis], tile.written_columns());
    const Region tiled{{}, {region[plane_axis], region[row_axis], region[column_axis]}};
    const std::int64_t tiles = column_tiles * tiles_of_rows(tiled, march.stencil, tile).count();
    const std::int64_t multiprocessors = march.rates.limits.multiprocessors;
    const std::int64_t planes = region[plane_axis],
                       resident = tile.blocks_per_multiprocessor * multiprocessors;
    const auto copied = march.space() && tile.warm_up > 0 ? march.costs().march.first_copies : 0.0;
    if (march.stencil.radius[row_axis] > 0) {
      const auto time =
          march_time(share_march(planes, tiles, resident, tile.warm_up), resident, tile.warm_up);
      waves = time.waves;
      planes_per_block = static_cast<double>(time.planes) / static_cast<double>(waves) - copied;
      blocks = waves * resident;
    } else {
      const bool beside_walls =
          march.stencil.has_walls(column_axis) && march.shape[row_axis] == 1 && column_tiles > 1;
      SingleRowMarch flat = single_row_march(tile, planes, tiles, march.rates.limits);
      flat.outer = {beside_walls, beside_walls};
      flat.halo = std::int64_t{tile.depth} * march.stencil.radius[plane_axis];
      flat.wall_cost = wall_cost(march.stencil, tile, march.compute_bytes(), march.costs());
      const auto stretches = stretch_march(flat);
      planes_per_block = longest_stretch(flat, stretches) - copied;
      blocks = stretches.blocks(tiles);
      waves = std::max<std::int64_t>(1, blocks / resident);
    }
    warps =
        static_cast<double>(ceil_div(blocks, multiprocessors) * tile.warps) / schedulers_of_multiprocessor;
    if (tile.warps == 1) warps = std::ceil(warps);
    executed = static_cast<double>(ceil_div(blocks, multiprocessors) * multiprocessors) * planes_per_block *
               static_cast<double>(tile.rows() * tile.columns());
  }
};

/// Counts the planes without taps between planes with taps: their sums are passed on nevertheless.
int empty_planes(const KernelStencil& stencil) {
  std::set<int> planes;
  for (const KernelTap& tap : stencil.taps) planes.insert(tap.offset[plane_axis]);
  const int reach = *planes.rbegin() - *planes.begin() + 1;
  return stencil.pointwise_completion() ? 0 : reach - static_cast<int>(planes.size());
}

/// Counts how often a point is rounded per step. In the first step, stars round input twice, and boxes in 3D
/// round rows of neighbouring warps.
double roundings(const MarchModel& march, const MarchTile& tile) {
  const double again = march.stencil.radius[plane_axis] == 0 ? 0
                       : march.stencil.pointwise_completion()
                           ? 1
                           : 2.0 * march.stencil.radius[row_axis] / tile.rows_per_warp;
  return 1 + again / tile.depth;
}

/// Holds the issue slots per point and step of a kernel: the sum, then loads, shared rows and shuffles.
struct Slots {
  double sum, others;
};

/// Holds the issue slots beside the sum: those of every level, which grow with the radius if points are not
/// folded along x, and those that a kernel takes once. All slots are multiplied by `hidden`.
struct SlotsBesideSum {
  double per_level = 0, per_kernel = 0, hidden = 1;
};

/// Returns how many columns a stencil reads beyond the neighbour.
double further_columns(const KernelStencil& stencil) { return stencil.radius[column_axis] - 1.0; }

SlotsBesideSum slots_of_line(const MarchModel& march, const MarchTile& tile) {
  const Calibration::Marches& costs = march.costs().march;
  const double reach = further_columns(march.stencil);
  if (march.fp64()) return {costs.line_reach_fp64 * reach, costs.line_kernel_fp64};
  SlotsBesideSum slots{costs.line_min + costs.line_reach * reach, costs.line_kernel};
  if (reach <= 3 && tile.depth * march.stencil.radius[column_axis] % 32 == 0)
    slots.hidden = costs.line_aligned;  // tiles begin at lines of memory
  return slots;
}

SlotsBesideSum slots_of_plane(const MarchModel& march, const MarchTile& tile, bool alone) {
  const Calibration::Marches& costs = march.costs().march;
  const KernelStencil& stencil = march.stencil;
  const double reach = further_columns(stencil),
               share = stencil.folded[column_axis] ? costs.folded_share : 1.0;
  const bool box = !stencil.pointwise_completion(), fp64 = march.fp64();
  SlotsBesideSum slots;
  if (fp64) {  // sums that are passed on, and shuffles
    slots.per_level = costs.plane_hand_fp64 * stencil.radius[plane_axis] +
                      costs.plane_shuffle_fp64 * (1 + share * std::max(0.0, reach)) - costs.plane_saved_fp64;
  } else {
    slots.per_level = (stencil.folded[column_axis] ? costs.plane_folded
                       : box                       ? costs.plane_box
                                                   : costs.plane_star) *
                          stencil.radius[column_axis] +
                      costs.plane_empty * empty_planes(stencil);
    slots.per_kernel = costs.plane_kernel / tile.points_per_lane;
  }
  if (storage_bytes(march.precision) == 2 && !alone)
    slots.hidden = costs.plane_half;  // values that are passed on have 4 bytes
  if (tile.depth > 8 && reach == 0)
    slots.hidden = fp64  ? costs.plane_deep_fp64
                   : box ? costs.plane_deep_box
                         : costs.plane_deep_star;  // few registers are left
  return slots;
}

SlotsBesideSum slots_of_space(const MarchModel& march) {
  const Calibration::Marches& costs = march.costs().march;
  const KernelStencil& stencil = march.stencil;
  const double reach = further_columns(stencil);
  const bool box = !stencil.pointwise_completion();
  SlotsBesideSum slots;
  if (march.fp64()) {
    slots.per_level = costs.space_fp64 + (box ? 0.0 : costs.space_reach_fp64 * std::max(0.0, reach));
    slots.per_kernel = costs.space_kernel_fp64;
  } else if (!box) {
    slots.per_level = costs.space_star + costs.space_star_reach * std::max(0.0, reach);
  } else if (stencil.folded[column_axis]) {
    slots.per_level = costs.space_folded + costs.space_folded_reach * reach;
  } else {
    slots.per_level = costs.space_box_radius * stencil.radius[column_axis] - costs.space_box_saved;
    slots.per_kernel = costs.space_box_kernel;
  }
  if (storage_bytes(march.precision) == 2 && box) slots.per_level += costs.space_half;
  return slots;
}

/// Returns the issue slots of a kernel. With few warps per multiprocessor less of them is hidden.
Slots issue_slots(const MarchModel& march, const MarchTile& tile, bool alone) {
  const Calibration::Marches& costs = march.costs().march;
  const KernelStencil& stencil = march.stencil;
  const bool box = !stencil.pointwise_completion(), fp64 = march.fp64();
  const int dimensions = march.domain.dimensions;
  auto [others, per_kernel, hidden] = dimensions == 1   ? slots_of_line(march, tile)
                                      : dimensions == 2 ? slots_of_plane(march, tile, alone)
                                                        : slots_of_space(march);
  if (march.space())
    others += costs.shared_rows * stencil.radius[row_axis] * (1.0 / tile.rows_per_warp - 0.25);
  if (march.space() && box && tile.warps <= 8) hidden *= costs.few_warps;
  const double source = stencil.with_source ? costs.source_slots * stencil.radius[plane_axis] : 0.0;
  const bool dense =
      box && !fp64 && dimensions == 2 && !stencil.folded[column_axis] && !march.domain.has_walls();
  const double sums = dense           ? costs.dense_sums
                      : !fp64         ? 1.0
                      : march.space() ? costs.space_sums
                                      : costs.flat_sums;
  const double sum = stencil.operations * sums;
  return {sum * hidden, (std::max(0.0, others) + march.rounding_slots() * roundings(march, tile) + source +
                         per_kernel / tile.depth) *
                            hidden};
}

/// Returns the factor by which kernels slow down if threads write columns one by one.
double raggedness(const MarchModel& march, const MarchTile& tile, const std::array<std::int64_t, 3>& region,
                  bool is_last) {
  const Calibration::Marches& costs = march.costs().march;
  if (march.domain.dimensions == 1) return 1;
  const std::int64_t columns = region[column_axis];
  const bool ends_at_wall = !march.domain.periodic(x_axis) && columns == march.shape[column_axis];
  ScalarArguments a{};
  a.region.end[column_axis] =
      in_whole_vectors({0, columns}, tile, {march.precision, true, is_last}, !is_last, ends_at_wall)[1];
  place_column_tiles(a, tile, 0);
  if (writes_whole_vectors(a, tile)) return 1;
  return !march.space()                         ? costs.ragged_plane
         : march.stencil.pointwise_completion() ? costs.ragged_star
                                                : costs.ragged_box;
}

/// Returns the seconds that one kernel computes: a march if there is a tile, else a step.
double kernel_seconds(const MarchModel& march, const std::array<std::int64_t, 3>& region,
                      const std::optional<MarchTile>& tile, bool is_only, bool is_last) {
  const Calibration::Marches& costs = march.costs().march;
  if (!tile) return step_seconds(march, region);
  if (const auto small = march.small_tile(region, tile->depth))
    return tile_seconds(march, *small, tile->depth);
  const MarchLaunch launch(march, *tile, region);
  const double cycle = march.cycle(), busy = march.slot(march.lane_rate());
  const auto [sum, others] = issue_slots(march, *tile, is_only);
  // A scheduler issues for its warps in turn, unless these are few and wait for their own results.
  const auto points = static_cast<double>(tile->points_per_lane * tile->rows_per_warp);
  // Without a march each instruction runs once, and many instructions have to be fetched.
  const double instructions = points * instructions_of_line(march, false);
  const bool fetched = tile->depth * instructions > costs.fetched_instructions;
  const double alone = march.stencil.radius[plane_axis] == 0
                           ? (fetched ? instructions * costs.fetch_cycles * cycle : 0.0)
                           : points * (sum * std::max(busy, cycle) + others * costs.alone_cycles * cycle) +
                                 costs.plane_latency * cycle;
  const double inside =
      raggedness(march, *tile, region, is_last) * tile->depth * launch.planes_per_block *
      std::max(launch.warps * points * (sum + others) * busy, static_cast<double>(launch.waves) * alone);
  // A block beside a wall begins first, and takes some of its scheduler's time.
  return std::hypot(inside, wall_warp_seconds(march, *tile));
}

/// Counts the slabs of a region that the kernels of a launch take one after the other.
std::int64_t slabs_of(const MarchModel& march, const std::array<std::int64_t, 3>& region, int fuse,
                      int kernels) {
  if (kernels == 1) return 1;
  const auto& radius = march.stencil.radius;
  const std::int64_t of_plane = (region[row_axis] + 2 * fuse * radius[row_axis]) *
                                (region[column_axis] + 2 * fuse * radius[column_axis]);
  return ceil_div(region[plane_axis], planes_of_slab(of_plane, 2 * fuse * radius[plane_axis]));
}

/// Returns the region that a kernel writes if others take `steps_left` more steps. The region includes the
/// points that those steps need beyond slabs, and beyond periodic faces of axes that have periodic copies.
std::array<std::int64_t, 3> grown(const MarchModel& march, std::array<std::int64_t, 3> region, int steps_left,
                                  const std::array<bool, 3>& wraps, bool slabs) {
  const auto axes = grid_axes(march.domain);
  for (int axis = 0; axis < axis_count; ++axis)
    if (march.domain.has_periodic_copies(axes[axis], wraps) || (axis == plane_axis && slabs))
      region[axis] += 2 * steps_left * march.stencil.radius[axis];
  return region;
}

}  // namespace

double compute_seconds(const MarchModel& march, const std::array<std::int64_t, 3>& region, int fuse) {
  const int deepest = march.depth_of_kernels(fuse);
  const int kernels = deepest > 0 ? ceil_div(fuse, deepest) : fuse;
  const std::int64_t slabs = slabs_of(march, region, fuse, kernels);
  const auto wraps = kernels > 1 ? march.wraps(fuse) : std::array<bool, 3>{};
  auto slab = region;
  slab[plane_axis] = ceil_div(region[plane_axis], slabs);
  double seconds = 0;
  for (int k = 0, done = 0; k < kernels; ++k) {
    const int depth = fuse * (k + 1) / kernels - done;
    done += depth;
    const auto tile = deepest > 0 ? march.tile(depth) : std::nullopt;
    seconds += kernel_seconds(march, grown(march, slab, fuse - done, wraps, slabs > 1), tile, kernels == 1,
                              done == fuse);
  }
  return static_cast<double>(slabs) * seconds;
}

ScalarWork scalar_work(const MarchModel& march, int fuse) {
  const Calibration::Marches& costs = march.costs().march;
  ScalarWork work;
  const auto element = static_cast<double>(storage_bytes(march.precision));
  const double sums = std::max(element, 4.0), points = static_cast<double>(march.domain.box().points());
  const int deepest = march.depth_of_kernels(fuse);
  const int kernels = deepest > 0 ? ceil_div(fuse, deepest) : fuse;
  const auto tile = deepest > 0 ? march.tile(ceil_div(fuse, kernels)) : std::nullopt;
  const double per_step = 1 / (points * fuse);
  work.wraps = march.wraps(fuse);

  work.bytes = (2 * element + 2 * sums * (kernels - 1)) / fuse;
  if (march.stencil.with_source) work.bytes += sums * kernels / fuse;
  // An addition of points that share a weight is half of a multiply-add.
  work.fma = tile ? 0.5 * march.stencil.flops * MarchLaunch(march, *tile, march.shape).executed / points
                  : static_cast<double>(march.taps);
  // Halos of tiles are read again: in 3D partly from memory, in 1D where tiles do not end at a line of
  // memory.
  const bool within = march.domain.dimensions == 1 && tile &&
                      tile->written_columns() * static_cast<int>(storage_bytes(march.precision)) % 128 != 0;
  // The kernel in the middle reads and writes as much as kernels do on average.
  const auto written = grown(march, march.shape, kernels > 1 ? fuse / 2 : 0, work.wraps, false);
  const double growth = static_cast<double>(written[0] * written[1] * written[2]) / points;
  work.memory_seconds = work.bytes / march.rates.bandwidth * growth *
                        (march.space() || within ? costs.halos_read_again : 1.0) *
                        (march.stencil.with_source ? costs.two_fields_read : 1.0);
  work.compute_seconds = compute_seconds(march, march.shape, fuse) * per_step;
  const bool small = tile && march.small_tile(march.shape, tile->depth);
  const double gap = small                          ? costs.tile_gap
                     : march.domain.dimensions == 1 ? costs.line_gap
                                                    : costs.kernel_gap;
  work.gap_seconds =
      static_cast<double>(slabs_of(march, march.shape, fuse, kernels) * kernels - 1) * gap * per_step;
  if (tile && !small && march.stencil.radius[plane_axis] > 0)
    work.fill_seconds = costs.fill * (1 - utilization(march.domain, march.costs())) * per_step;
  work.seconds = overlapped(march.costs(), {work.memory_seconds, work.compute_seconds});
  if (!tile || small) return work;
  const double seconds = work.seconds / per_step;
  work.wall_seconds = wall_seconds(march, *tile, fuse, ceil_div(fuse, kernels), seconds) * per_step;
  work.seconds += work.wall_seconds;
  return work;
}

}  // namespace spsolve::cuda
