// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/dynamic_bitset.hpp>
#include <cstddef>
#include <utility>
#include <vector>

#include "kernels/sparse/weight_matrix.hpp"

namespace spsolve {

/// Conflict graph of a weight matrix (SparStencil definition 1): two nodes conflict if some row uses both.
/// Node i is the columns [run * i, run * (i + 1)): single columns, or aligned pairs.
class ConflictGraph {
 public:
  explicit ConflictGraph(const WeightMatrix& matrix, int run = 1);

  std::size_t size() const { return rows_.size(); }
  /// Rows that use each node.
  const std::vector<boost::dynamic_bitset<>>& rows() const { return rows_; }
  bool conflict(std::size_t a, std::size_t b) const { return rows_[a].intersects(rows_[b]); }

 private:
  std::vector<boost::dynamic_bitset<>> rows_;
};

/// Disjoint pairs of nodes without conflict; every node that is in none is paired with a zero node.
struct Matching {
  std::vector<std::pair<int, int>> pairs;
  std::vector<int> unmatched;

  std::size_t zero_nodes() const { return unmatched.size(); }
};

/// Hierarchical two-level matching (SparStencil algorithm 1) on the window of a box stencil, one level per
/// axis: slabs i and i + s, s = max(floor(n/2), k), are paired point by point, slabs left over are matched
/// inside along the next axis. No conflict by theorem 1 for any stencil inside its tap box, O(nodes). Theorem
/// 2 (no fewer zero nodes) holds for boxes with window <= 2 kernel on every axis; past that an odd slab may
/// be left whose points would find partners in other slabs. Nodes are the points of the window, x fastest;
/// window and kernel are extents {z, y, x}.
Matching two_level_matching(const Index3& window, const Index3& kernel);

/// A matching with the fewest zero nodes for any graph: maximum cardinality matching of the complement
/// (Edmonds' blossom algorithm).
Matching blossom_matching(const ConflictGraph& graph);

/// No matching has fewer zero nodes: nodes in conflict with all others stay alone, and an odd number leaves
/// one.
std::size_t fewest_zero_nodes(const ConflictGraph& graph);

}  // namespace spsolve
