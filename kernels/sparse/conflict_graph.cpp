// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/conflict_graph.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/max_cardinality_matching.hpp>
#include <map>

namespace spsolve {
namespace {

/// Matches the points of a slab along `axis`. `first` is the index of its first point.
void match_axis(const Index3& window, const Index3& kernel, int axis, int first, Matching& matching) {
  if (axis == axis_count) {
    matching.unmatched.push_back(first);
    return;
  }
  int points = 1;
  for (int inner = axis + 1; inner < axis_count; ++inner) points *= static_cast<int>(window[inner]);
  const int n = static_cast<int>(window[axis]);
  const int distance = std::max(n / 2, static_cast<int>(kernel[axis]));
  std::vector<bool> matched(n, false);
  for (int i = 0; i < n; ++i) {
    if (matched[i]) continue;
    if (i + distance < n) {
      matched[i + distance] = true;
      for (int point = 0; point < points; ++point)
        matching.pairs.emplace_back(first + i * points + point, first + (i + distance) * points + point);
    } else {
      match_axis(window, kernel, axis + 1, first + i * points, matching);
    }
  }
}

}  // namespace

ConflictGraph::ConflictGraph(const WeightMatrix& matrix, int run)
    : rows_(matrix.columns() / run, boost::dynamic_bitset<>(matrix.rows())) {
  for (std::size_t m = 0; m < matrix.rows(); ++m)
    for (std::size_t k = 0; k < matrix.columns(); ++k)
      if (matrix.value(m, k) != 0.0) rows_[k / run].set(m);
}

Matching two_level_matching(const Index3& window, const Index3& kernel) {
  Matching matching;
  match_axis(window, kernel, z_axis, 0, matching);
  return matching;
}

Matching blossom_matching(const ConflictGraph& graph) {
  using Compatible = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;
  const std::size_t nodes = graph.size();
  Compatible compatible(nodes);
  for (std::size_t a = 0; a < nodes; ++a)
    for (std::size_t b = a + 1; b < nodes; ++b)
      if (!graph.conflict(a, b)) boost::add_edge(a, b, compatible);
  std::vector<boost::graph_traits<Compatible>::vertex_descriptor> mate(nodes);
  boost::edmonds_maximum_cardinality_matching(compatible, mate.data());

  Matching matching;
  for (std::size_t a = 0; a < nodes; ++a) {
    if (mate[a] >= nodes)
      matching.unmatched.push_back(static_cast<int>(a));
    else if (a < mate[a])
      matching.pairs.emplace_back(static_cast<int>(a), static_cast<int>(mate[a]));
  }
  return matching;
}

std::size_t min_zero_nodes(const ConflictGraph& graph) {
  std::map<boost::dynamic_bitset<>, std::size_t>
      kinds;  // nodes that are used by the same rows conflict with the same nodes
  for (const auto& rows : graph.rows()) ++kinds[rows];
  std::size_t alone = 0;
  for (const auto& [rows, nodes] : kinds) {
    const bool with_all = std::all_of(kinds.begin(), kinds.end(), [&, &rows = rows](const auto& other) {
      return rows.intersects(other.first) || (rows == other.first && other.second == 1);
    });
    if (with_all) alone += nodes;
  }
  return alone + (graph.size() - alone) % 2;
}

}  // namespace spsolve
