// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/layout_explorer.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "kernels/rounding.hpp"
#include "kernels/sparse/morph.hpp"
#include "kernels/sparse/sliced_operand.hpp"

namespace spsolve {
namespace {

/// Returns every tile of at most max_outputs outputs.
std::vector<Index3> tiles_on(const Index3& shape, int max_outputs) {
  std::vector<Index3> tiles;
  Index3 most;  // unused axes take one point per tile
  for (int axis = 0; axis < axis_count; ++axis) most[axis] = std::min<std::int64_t>(shape[axis], max_outputs);
  for (std::int64_t r3 = 1; r3 <= most[0]; ++r3)
    for (std::int64_t r2 = 1; r2 <= most[1] && r3 * r2 <= max_outputs; ++r2)
      for (std::int64_t r1 = 1; r1 <= most[2] && r3 * r2 * r1 <= max_outputs; ++r1)
        tiles.push_back({r3, r2, r1});
  return tiles;
}

std::int64_t tile_count(const Index3& shape, const Index3& tile) {
  return ceil_div(shape[0], tile[0]) * ceil_div(shape[1], tile[1]) * ceil_div(shape[2], tile[2]);
}

/// Returns the number of instructions (equation 9).
std::int64_t mma_count(const Index3& shape, const Index3& tile, std::int64_t k, const MmaShape& mma) {
  return ceil_div(volume(tile), mma_rows) * ceil_div(k, mma.k) *
         ceil_div(tile_count(shape, tile), mma_columns);
}

/// Returns how many points of the window are used by any output of a tile.
std::int64_t used_points(const Stencil& stencil, const Index3& tile) {
  const Box window = window_of(stencil, tile);
  std::vector<bool> used(static_cast<std::size_t>(window.points()));
  for_each_point(box_of(tile), [&](const Index3& output) {
    for (const Tap& tap : stencil.taps())
      used[index_of(output + tap.offset - window.begin, window.extent())] = true;
  });
  return std::ranges::count(used, true);
}

/// Describes the axes of a march on a grid.
struct MarchAxes {
  int dimensions;
  bool rows;  // planes have several rows
};
MarchAxes march_axes(const Index3& shape) {
  const int dimensions = shape[z_axis] > 1 ? 3 : shape[y_axis] > 1 ? 2 : 1;
  return {dimensions, dimensions == 3 && shape[y_axis] > 1};
}

/// Counts the instructions of the tiles that kernels march with, and marks the one that they take.
void add_march(std::vector<LayoutCandidate>& candidates, const Stencil& stencil, const Index3& shape,
               Precision element) {
  const auto [dimensions, rows] = march_axes(shape);
  const Stencil turned = in_march_axes(stencil, dimensions);
  const SlicedOperand taken = slice_sparse(turned, Layout::morph, element, rows);
  for (const Index3& tile : marching_tiles(rows))
    for (LayoutCandidate& c : candidates)
      if (c.tile == tile) {
        c.is_taken = tile == taken.tile;
        c.march_instructions =
            instructions_with_weights(c.is_taken ? taken : slice_tile(turned, tile, element), element);
      }
}

LayoutCandidate candidate(const Stencil& stencil, const Index3& tile, const Index3& shape,
                          const MmaShape& mma, Precision storage, const TensorRates& rates) {
  const auto [matrix, matching] = match_columns(stencil, tile);
  LayoutCandidate c{};
  c.tile = tile;
  c.m = volume(tile);
  c.window = window_of(stencil, tile).points();
  c.zero_columns = static_cast<std::int64_t>(matching.zero_nodes());
  c.k = static_cast<std::int64_t>(matrix.columns()) + c.zero_columns;

  const std::int64_t tiles = tile_count(shape, tile);
  c.mma_count = mma_count(shape, tile, c.k, mma);
  c.narrow_mma_count = mma_count(shape, tile, c.k, {mma.element, mma.k / 2});
  const double executed = static_cast<double>(round_up(c.m, mma_rows) * round_up(c.k, mma.k)) / 2;
  c.density = static_cast<double>(stencil.taps().size() * c.m) / executed;
  c.compute_seconds = static_cast<double>(c.mma_count) / rates.mma_per_second;  // (7)

  const double global =
      2.0 * static_cast<double>(volume(shape)) * static_cast<double>(storage_bytes(storage));
  const double element = mma.element == Precision::tf32 ? 4.0 : 2.0;
  const double moved =
      static_cast<double>(c.k) * (static_cast<double>(c.m) / 2 + static_cast<double>(tiles));  // (10)
  c.memory_seconds = std::max(global / rates.global_bytes_per_second,
                              2.0 * moved * element / rates.shared_bytes_per_second);  // (8)
  c.seconds = std::max(c.compute_seconds, c.memory_seconds);                           // (6)
  return c;
}

}  // namespace

std::vector<LayoutCandidate> explore_layouts(const Stencil& stencil, const Index3& shape, const MmaShape& mma,
                                             Precision storage, const TensorRates& rates, int max_outputs) {
  std::vector<LayoutCandidate> candidates;
  for (const Index3& tile : tiles_on(shape, max_outputs))
    candidates.push_back(candidate(stencil, tile, shape, mma, storage, rates));
  std::ranges::stable_sort(candidates, [](const LayoutCandidate& a, const LayoutCandidate& b) {
    return std::pair(a.seconds, a.mma_count) < std::pair(b.seconds, b.mma_count);
  });
  add_march(candidates, stencil, shape, mma.element);
  return candidates;
}

Index3 marching_tile(const Stencil& stencil, const Index3& shape, Precision element) {
  const auto [dimensions, rows] = march_axes(shape);
  return slice_sparse(in_march_axes(stencil, dimensions), Layout::morph, element, rows).tile;
}

Index3 cheapest_tile(const Stencil& stencil, const Index3& shape, const MmaShape& mma) {
  const std::vector<Index3> tiles = tiles_on(shape, mma_rows);
  using Ranked = std::pair<std::int64_t, std::size_t>;  // instructions, index in `tiles`
  std::vector<Ranked> least;
  for (std::size_t i = 0; i < tiles.size(); ++i)
    least.emplace_back(mma_count(shape, tiles[i], used_points(stencil, tiles[i]), mma), i);
  std::ranges::sort(least);
  Ranked best{std::numeric_limits<std::int64_t>::max(), 0};
  for (const Ranked& bound : least) {
    if (best < bound) break;
    const auto [matrix, matching] = match_columns(stencil, tiles[bound.second]);
    const auto k = static_cast<std::int64_t>(matrix.columns() + matching.zero_nodes());
    best = std::min(best, {mma_count(shape, tiles[bound.second], k, mma), bound.second});
  }
  return tiles[best.second];
}

}  // namespace spsolve
