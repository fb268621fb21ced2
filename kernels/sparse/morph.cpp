// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/morph.hpp"

#include <algorithm>
#include <stdexcept>

#include "kernels/rounding.hpp"

namespace spsolve {
namespace {

constexpr std::size_t max_matched = 2048;  // nodes; Blossom looks at all pairs, 70 bytes each

/// Compresses a matrix whose columns are ordered by pairs of nodes, where each node is a run of columns.
/// Unmatched nodes are paired with zero columns.
Operand compress_pairs(const WeightMatrix& matrix, int run, const Matching& matching, const Index3& tile,
                       Sparsity sparsity) {
  constexpr std::size_t group = 4;  // columns that the hardware treats as one group
  constexpr int unpaired = -1;
  auto pairs = matching.pairs;
  for (const int node : matching.unmatched) pairs.emplace_back(node, unpaired);
  std::sort(pairs.begin(), pairs.end());
  std::vector<int> order;
  for (const auto& [a, b] : pairs) {
    for (int k = run * a; k < run * (a + 1); ++k) order.push_back(k);
    for (int k = 0; k < run; ++k) order.push_back(b == unpaired ? zero_column(run * a + k) : run * b + k);
  }
  while (order.size() % group != 0) order.push_back(zero_column(pairs.back().first));
  return compress(order_columns(matrix, order), tile, sparsity);
}

/// Returns the used columns of the window. The window starts and ends on even x, so that every two columns
/// are an aligned pair of x-neighbours.
WeightMatrix x_pairs_of(const Stencil& stencil, const Index3& tile) {
  Box window = window_of(stencil, tile);
  window.begin[x_axis] = round_down(window.begin[x_axis], 2);
  window.end[x_axis] = round_up(window.end[x_axis], 2);
  return without_zero_columns(weight_matrix(stencil, points_of(box_of(tile)), points_of(window)), 2);
}

}  // namespace

MorphMatching match_columns(const Stencil& stencil, const Index3& tile) {
  WeightMatrix window = crush(stencil, tile);
  WeightMatrix used = without_zero_columns(window);
  const ConflictGraph graph(used);
  const bool is_large = graph.size() > max_matched;
  if (used.columns() == window.columns() || is_large) {
    Matching staircase = two_level_matching(window_of(stencil, tile).extent(), tap_box(stencil).extent());
    if (is_large || staircase.zero_nodes() == min_zero_nodes(graph))
      return {std::move(window), std::move(staircase)};
  }
  return {std::move(used), blossom_matching(graph)};
}

Operand morph(const Stencil& stencil, const Index3& tile, Pairing pairing) {
  if (pairing == Pairing::columns) {
    const auto [matrix, matching] = match_columns(stencil, tile);
    return compress_pairs(matrix, 1, matching, tile, one_of_two);
  }
  if (tile[x_axis] % 2 != 0)
    throw std::invalid_argument("morph: pairs of x-neighbours need an even tile extent along x");
  const WeightMatrix matrix = x_pairs_of(stencil, tile);
  return compress_pairs(matrix, 2, blossom_matching(ConflictGraph(matrix, 2)), tile, two_of_four);
}

}  // namespace spsolve
