// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/dynamic_bitset.hpp>
#include <cstddef>
#include <utility>
#include <vector>

#include "kernels/sparse/weight_matrix.hpp"

namespace spsolve {

/// Represents the conflict graph of a weight matrix (SparStencil definition 1): two nodes conflict if some
/// row uses both. Node i stands for the columns [run * i, run * (i + 1)): single columns, or aligned pairs.
class ConflictGraph {
 public:
  explicit ConflictGraph(const WeightMatrix& matrix, int run = 1);

  std::size_t size() const { return rows_.size(); }
  /// Returns the set of rows that use each node.
  const std::vector<boost::dynamic_bitset<>>& rows() const { return rows_; }
  bool conflict(std::size_t a, std::size_t b) const { return rows_[a].intersects(rows_[b]); }

 private:
  std::vector<boost::dynamic_bitset<>> rows_;
};

/// Holds disjoint pairs of nodes that do not conflict. Every unmatched node is paired with a zero node.
struct Matching {
  std::vector<std::pair<int, int>> pairs;
  std::vector<int> unmatched;

  std::size_t zero_nodes() const { return unmatched.size(); }
};

/// Matches the window of a box stencil in two levels per axis (hierarchical two-level matching, SparStencil
/// algorithm 1). Slabs i and i + s, s = max(floor(n/2), k), are paired point by point; remaining slabs are
/// matched inside along the next axis. Takes O(nodes).
///
/// By theorem 1 there is no conflict for any stencil inside its tap box. Theorem 2 (no matching has fewer
/// zero nodes) holds for boxes with window <= 2 kernel on every axis. Beyond that, an odd slab may remain
/// whose points would find partners in other slabs.
///
/// Nodes are the points of the window, x fastest. `window` and `kernel` are extents {z, y, x}.
Matching two_level_matching(const Index3& window, const Index3& kernel);

/// Returns a matching with the fewest zero nodes for any graph: the maximum cardinality matching of the
/// complement (Edmonds' blossom algorithm).
Matching blossom_matching(const ConflictGraph& graph);

/// Returns a lower bound of the zero nodes of any matching: nodes that conflict with all others stay alone,
/// and an odd number of nodes leaves one over.
std::size_t min_zero_nodes(const ConflictGraph& graph);

}  // namespace spsolve
