// SPDX-License-Identifier: Apache-2.0
// This file compiles and launches the kernels of the scalar unit.
#include <algorithm>
#include <cstdint>

#include "kernels/cuda/launch/launch_shape.hpp"
#include "kernels/cuda/launch/make_tensor_map.hpp"
#include "kernels/cuda/launch/view.hpp"
#include "kernels/cuda/scalar/place_tiles.hpp"
#include "kernels/cuda/scalar/scalar_constants.hpp"
#include "kernels/cuda/scalar/scalar_unit.hpp"

namespace spsolve::cuda {
namespace {

/// Makes the tensor maps by which a march reads a view, of which it keeps the columns that the launch can
/// reach: coordinates in a tile map have 32 bits.
void map_tiles(const ScalarArguments& a, const MarchTile& tile, int bytes, bool copy_engine,
               std::int64_t granule, View& view, TensorMap (&maps)[2]) {
  if (const std::int64_t skipped = round_down(a.first_column - view.begin[2], granule); skipped > 0) {
    view.data = static_cast<std::byte*>(view.data) + skipped * bytes;
    view.begin[2] += skipped;
  }
  view.end[2] = std::min<std::int64_t>(view.end[2], view.begin[2] + 2 * max_columns);
  if (!copy_engine) return;
  maps[0] = make_tile_map(view, bytes, tile.box_rows(), tile.box_columns());
  if (a.row_period) maps[1] = make_tile_map(view, bytes, tile.box_rows(), tile.columns(), a.row_period);
}

/// Shares the tiles and planes of a march among blocks, of which a device runs `resident` at once, and
/// returns the grid of blocks.
dim3 share_among_blocks(ScalarArguments& a, const KernelStencil& stencil, const MarchTile& tile,
                        int compute_bytes, const BlockLimits& limits, std::int64_t resident) {
  const std::int64_t column_tiles = a.column_tiles,
                     row_tiles = tiles_of_rows(a.region, stencil, tile).count();
  const std::int64_t planes = a.region.end[0] - a.region.begin[0];
  if (stencil.radius[row_axis] > 0) {
    a.shares = share_march(planes, column_tiles * row_tiles, resident, tile.warm_up);
    return dim3(static_cast<unsigned>(a.shares.blocks()));
  }
  const std::int64_t halo = std::int64_t{tile.depth} * stencil.radius[plane_axis];
  WallCost cost = wall_cost(stencil, tile, compute_bytes, limits.costs());
  if (a.region.begin[0] >= halo && a.region.end[0] + halo <= a.shape[plane_axis]) cost.planes = 0;
  SingleRowMarch march = single_row_march(tile, planes, column_tiles * row_tiles, limits);
  march.outer = stencil.has_walls(column_axis) && row_tiles == 1 ? outer_tiles(a, tile) : no_outer_tiles;
  march.halo = halo;
  march.resident = resident;  // may be more than the tile was chosen for
  march.wall_cost = cost;
  a.stretches = stretch_march(march);
  return dim3(static_cast<unsigned>(a.stretches.blocks(a.column_tiles)), static_cast<unsigned>(row_tiles));
}

}  // namespace

void ScalarUnit::launch_march(MarchKernels& march, const FieldView& in, const FieldView& out,
                              const Box& wanted, cudaStream_t stream) const {
  const MarchTile& tile = march.tile;
  const Formats formats{precision_, in.stored, out.stored};
  const bool ends_at_wall = wanted.end[x_axis] == domain_.shape[x_axis] && !domain_.periodic(x_axis);
  const auto [first_column, end_column] =
      in_whole_vectors({wanted.begin[x_axis] - aligned_column_, wanted.end[x_axis] - aligned_column_}, tile,
                       formats, out.is_scratch, ends_at_wall);
  Box region = wanted;
  region.begin[x_axis] = aligned_column_ + first_column;
  region.end[x_axis] = aligned_column_ + end_column;
  // Coordinates in a tile map have 32 bits. Without taps across rows, a row of tiles is one row of the grid.
  const int rows = axes_[row_axis];
  const bool wide = region.extent()[x_axis] > max_columns,
             tall = stencil_.radius[row_axis] == 0 && region.extent()[rows] > max_blocks_across;
  if (wide || tall) {
    const int axis = wide ? static_cast<int>(x_axis) : rows;
    Box left = region, right = region;
    left.end[axis] = right.begin[axis] =
        region.begin[axis] + round_down(region.extent()[axis] / 2, column_granule);
    this->launch_march(march, in, out, left, stream);
    return this->launch_march(march, in, out, right, stream);
  }
  ScalarArguments a = arguments(in, out, region);
  const std::int64_t granule = 16 / std::min(formats.in_bytes(), formats.out_bytes());
  const Kernel& kernel = kernel_of(
      march, place_tiles(a, stencil_, tile,
                         aligned_column_ + round_down(a.region.begin[2] - aligned_column_, granule)));
  if (!in.view.data) return;  // prepare()
  const BlockLimits limits = device_.block_limits();
  const bool copy_engine = limits.copy_engine();
  map_tiles(a, tile, formats.in_bytes(), copy_engine, column_granule, a.in, a.in_map);
  if (a.source.data)
    map_tiles(a, tile, formats.compute_bytes(), copy_engine, column_granule, a.source, a.source_map);
  const std::int64_t resident =
      device_.multiprocessors * kernel.resident_blocks(32 * tile.warps, tile.shared_bytes);
  const dim3 grid = share_among_blocks(a, stencil_, tile, formats.compute_bytes(), limits, resident);
  kernel.launch(grid, dim3(static_cast<unsigned>(32 * tile.warps)),
                static_cast<std::size_t>(tile.shared_bytes), stream, a);
}

void ScalarUnit::launch_single_step(const FieldView& in, const FieldView& out, const Box& region,
                                    cudaStream_t stream) const {
  const Formats formats{precision_, in.stored, out.stored};
  ScalarArguments a = arguments(in, out, region);
  if (const auto& tile = single_step_tile(formats, a.region))
    return std::visit([&](const auto& of_kernel) { launch_single_step_tiles(of_kernel, a, formats, stream); },
                      *tile);
  constexpr unsigned threads = 256;
  const std::int64_t blocks =
      std::min<std::int64_t>(ceil_div(region.points(), threads), 64 * device_.multiprocessors);
  const Kernel& kernel = point_step_kernel(formats);
  if (in.view.data) kernel.launch(dim3(static_cast<unsigned>(blocks)), dim3(threads), 0, stream, a);
}

template <class AnyTile>
void ScalarUnit::launch_single_step_tiles(const AnyTile& tile, ScalarArguments& a, const Formats& formats,
                                          cudaStream_t stream) const {
  const Kernel& kernel = single_step_kernel(formats, tile);
  if (!a.in.data) return;  // prepare()
  const auto blocks = [&](int axis, std::int64_t first, int of_block) {
    return static_cast<unsigned>(ceil_div(a.region.end[axis] - first, of_block));
  };
  // The results' memory is aligned to 16 bytes at this column.
  a.first_column =
      aligned_column_ + round_down(a.region.begin[column_axis] - aligned_column_, column_granule);
  a.tile_planes = tile.planes;
  const int rows = stencil_.tile_axis(), slow = stencil_.slow_axis();
  const dim3 grid(blocks(column_axis, a.first_column, tile.columns),
                  blocks(rows, a.region.begin[rows], tile.rows),
                  blocks(slow, a.region.begin[slow], tile.planes));
  kernel.launch(grid, dim3(static_cast<unsigned>(32 * tile.warps)), tile.shared_bytes, stream, a);
}

const std::optional<SingleStepTile>& ScalarUnit::single_step_tile(const Formats& formats,
                                                                  const Region& region) const {
  const auto [entry, is_new] =
      single_steps_.try_emplace({formats, std::to_array(region.begin), std::to_array(region.end)});
  if (is_new) entry->second = choose_single_step(stencil_, region, formats, device_.block_limits());
  return entry->second.tile;
}

void ScalarUnit::launch_small_grid_steps(const SmallGridTile& tile, const FieldView& in, const FieldView& out,
                                         const Box& region, int steps, cudaStream_t stream) const {
  ScalarArguments a = arguments(in, out, region);
  a.steps = steps;
  a.tile_planes = static_cast<int>(tile.planes);
  a.tile_columns = static_cast<int>(tile.columns);
  const dim3 grid(static_cast<unsigned>(tile.column_tiles), static_cast<unsigned>(tile.plane_tiles));
  const Kernel& kernel = small_grid_kernel({precision_, in.stored, out.stored}, tile.stride);
  if (in.view.data) kernel.launch(grid, dim3(small_grid_threads), tile.shared_bytes, stream, a);
}

const std::optional<SmallGridTile>& ScalarUnit::small_grid_tile(const Box& region, int steps,
                                                                bool faster_than_march) const {
  const auto [entry, is_new] =
      small_grid_tiles_.try_emplace({region.begin, region.end, steps, faster_than_march});
  if (!is_new) return entry->second;
  const Formats formats{precision_, true, true};
  const Region tiled = region_of(region, axes_);
  entry->second =
      faster_than_march
          ? choose_faster_small_grid_tile(stencil_, tiled, steps, formats, device_.block_limits())
          : choose_small_grid_tile(stencil_, tiled, steps, formats.compute_bytes(), device_.block_limits());
  return entry->second;
}

ScalarArguments ScalarUnit::arguments(const FieldView& in, const FieldView& out, const Box& region) const {
  ScalarArguments a{};
  a.in = in.view;
  a.out = out.view;
  if (source_) a.source = view_of(*source_, axes_);
  if (in.previous) {
    a.source = view_of(*in.previous, axes_);
    a.to_previous =
        (static_cast<std::byte*>(view_of(*out.previous, axes_).data) - static_cast<std::byte*>(a.out.data)) /
        static_cast<std::int64_t>(storage_bytes(precision_));
  }
  a.region = region_of(region, axes_);
  if (stencil_.wraps[column_axis]) a.row_period = static_cast<int>(domain_.shape[x_axis]);
  for (int k = 0; k < axis_count; ++k) {
    a.shape[k] = domain_.shape[axes_[k]];
    for (const Side side : {low, high}) {
      a.ghost[k][side] = ghost_[k][side];
      a.ghost_fp32[k][side] = static_cast<float>(ghost_[k][side]);
    }
  }
  return a;
}

/// Returns null if march.cuh does not take the stencil at this depth.
ScalarUnit::MarchKernels* ScalarUnit::march_kernels_of(const Formats& formats, int depth) const {
  if (preferred_ == 0) return nullptr;
  const auto [entry, is_new] = march_kernels_.try_emplace({formats, depth});
  auto& march = entry->second;
  if (is_new)
    if (const auto tile = choose_march_tile(stencil_, formats, depth, device_.block_limits()))
      march.emplace(MarchKernels{formats, *tile});
  return march ? &*march : nullptr;
}

const Kernel& ScalarUnit::kernel_of(MarchKernels& march, const MarchTile& tile) const {
  const auto [low_between, high_between] = tile.faces_between_lanes;
  const std::array key{tile.whole_vectors, low_between, high_between};
  const auto known = march.kernels.find(key);
  if (known != march.kernels.end()) return known->second;
  return march.kernels
      .try_emplace(
          key,
          compiler_.begin("kernels/cuda/scalar/march.cuh", constants_text(stencil_, march.formats, &tile)),
          "march", tile.shared_bytes)
      .first->second;
}

const Kernel& ScalarUnit::point_step_kernel(const Formats& formats) const {
  const auto known = point_step_kernels_.find(formats);
  if (known != point_step_kernels_.end()) return known->second;
  return point_step_kernels_
      .try_emplace(
          formats,
          compiler_.begin("kernels/cuda/scalar/step.cuh", constants_text(stencil_, formats, nullptr)), "step")
      .first->second;
}

template <class AnyTile>
const Kernel& ScalarUnit::single_step_kernel(const Formats& formats, const AnyTile& tile) const {
  const auto known = single_step_kernels_.find({formats, tile});
  if (known != single_step_kernels_.end()) return known->second;
  const std::string name = AnyTile::kernel;
  return single_step_kernels_
      .try_emplace(
          {formats, tile},
          compiler_.begin("kernels/cuda/scalar/" + name + ".cuh", constants_text(stencil_, formats, tile)),
          name, tile.shared_bytes)
      .first->second;
}

const Kernel& ScalarUnit::small_grid_kernel(const Formats& formats, int stride) const {
  const auto known = small_grid_kernels_.find({formats, stride});
  if (known != small_grid_kernels_.end()) return known->second;
  const auto [code, is_new] = small_grid_code_.try_emplace(formats);
  if (is_new)
    code->second =
        compiler_.begin("kernels/cuda/scalar/steps.cuh", constants_text(stencil_, formats, nullptr));
  return small_grid_kernels_
      .try_emplace({formats, stride}, code->second, "steps_" + std::to_string(stride),
                   device_.shared_bytes_per_block)
      .first->second;
}

}  // namespace spsolve::cuda
