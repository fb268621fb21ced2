// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/layout_explorer.hpp"

#include <algorithm>

#include "kernels/rounding.hpp"
#include "kernels/sparse/morph.hpp"

namespace spsolve {
namespace {

LayoutCandidate candidate(const Stencil& stencil, const Index3& tile, const Index3& shape,
                          const MmaShape& mma, Precision storage, const TensorRates& rates) {
  const auto [matrix, matching] = match_columns(stencil, tile);
  LayoutCandidate c{};
  c.tile = tile;
  c.m = volume(tile);
  c.window = volume(tap_box(stencil).extent() + tile - Index3{1, 1, 1});
  c.zero_columns = static_cast<std::int64_t>(matching.zero_nodes());
  c.k = static_cast<std::int64_t>(matrix.columns()) + c.zero_columns;

  const std::int64_t blocks_m = pieces(c.m, mma_rows), steps_k = pieces(c.k, mma.k);
  const std::int64_t tiles =
      pieces(shape[0], tile[0]) * pieces(shape[1], tile[1]) * pieces(shape[2], tile[2]);
  c.mma_count = blocks_m * steps_k * pieces(tiles, mma_columns);  // (9)
  const double executed = static_cast<double>(blocks_m * mma_rows * steps_k * mma.k) / 2;
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
  Index3 most;  // an absent axis takes one point per tile
  for (int axis = 0; axis < axis_count; ++axis) most[axis] = std::min<std::int64_t>(shape[axis], max_outputs);
  for (std::int64_t r3 = 1; r3 <= most[0]; ++r3)
    for (std::int64_t r2 = 1; r2 <= most[1] && r3 * r2 <= max_outputs; ++r2)
      for (std::int64_t r1 = 1; r1 <= most[2] && r3 * r2 * r1 <= max_outputs; ++r1)
        candidates.push_back(candidate(stencil, {r3, r2, r1}, shape, mma, storage, rates));
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const LayoutCandidate& a, const LayoutCandidate& b) { return a.seconds < b.seconds; });
  return candidates;
}

}  // namespace spsolve
