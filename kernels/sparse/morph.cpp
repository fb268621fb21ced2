// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/morph.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace spsolve {
namespace {

constexpr int group_columns = 4;

Operand morph_columns(const Stencil& stencil, const Index3& tile) {
  const auto [matrix, matching, staircase] = match_columns(stencil, tile);
  auto pairs = matching.pairs;
  for (const int column : matching.unmatched) pairs.emplace_back(column, zero_column);
  std::sort(pairs.begin(), pairs.end());
  std::vector<int> order;
  for (const auto& [a, b] : pairs) order.insert(order.end(), {a, b});
  order.resize((order.size() + group_columns - 1) / group_columns * group_columns, zero_column);
  return compress(order_columns(matrix, order), tile, one_of_two);
}

constexpr std::int64_t floor_even(std::int64_t x) { return x - (x % 2 + 2) % 2; }

Operand morph_x_pairs(const Stencil& stencil, const Index3& tile) {
  if (tile[x_axis] % 2 != 0)
    throw std::invalid_argument("morph: pairs of x-neighbours need an even tile extent along x");
  const WeightMatrix matrix = without_zero_columns(crush(stencil, tile));
  std::map<Index3, std::vector<int>> columns;  // by the even point of the pair: its two columns
  for (std::size_t k = 0; k < matrix.columns(); ++k) {
    Index3 base = matrix.inputs[k];
    base[x_axis] = floor_even(base[x_axis]);
    auto& pair = columns.try_emplace(base, 2, zero_column).first->second;
    pair[matrix.inputs[k][x_axis] - base[x_axis]] = static_cast<int>(k);
  }
  std::vector<Index3> bases;
  std::vector<std::vector<int>> nodes;
  for (const auto& [base, pair] : columns) {
    bases.push_back(base);
    nodes.push_back(pair);
  }
  const Matching matching = blossom_matching(ConflictGraph(matrix, nodes));
  auto groups = matching.pairs;
  for (const int node : matching.unmatched) groups.emplace_back(node, zero_column);
  std::sort(groups.begin(), groups.end());

  std::vector<int> order;
  std::vector<Index3> inputs;
  for (const auto& [a, b] : groups) {
    for (const int node : {a, b}) {
      const std::size_t at = static_cast<std::size_t>(node == zero_column ? a : node);
      for (int half = 0; half < 2; ++half) {
        order.push_back(node == zero_column ? zero_column : nodes[at][half]);
        inputs.push_back(bases[at] + Index3{0, 0, half});
      }
    }
  }
  WeightMatrix ordered = order_columns(matrix, order);
  ordered.inputs = std::move(inputs);  // a pair is loaded whole, also where one of its points has no weight
  return compress(ordered, tile, two_of_four);
}

}  // namespace

MorphMatching match_columns(const Stencil& stencil, const Index3& tile) {
  WeightMatrix window = crush(stencil, tile);
  WeightMatrix used = without_zero_columns(window);
  const ConflictGraph graph(used);
  if (used.columns() == window.columns()) {
    const Index3 kernel = tap_box(stencil).extent();
    Matching staircase = two_level_matching(kernel + tile - Index3{1, 1, 1}, kernel);
    if (staircase.zero_nodes() == fewest_zero_nodes(graph))
      return {std::move(window), std::move(staircase), true};
  }
  return {std::move(used), blossom_matching(graph), false};
}

Operand morph(const Stencil& stencil, const Index3& tile, Pairing pairing) {
  return pairing == Pairing::columns ? morph_columns(stencil, tile) : morph_x_pairs(stencil, tile);
}

}  // namespace spsolve
