// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/sparse/conflict_graph.hpp"

namespace spsolve {

/// Lists pairs of nodes of a conflict graph, or single nodes paired with `unpaired`, in the order in which
/// instructions of the widest shape take them. Two pairs share a register, one word for each lane of a quad,
/// and an instruction takes four registers.
using NodePairs = std::vector<std::pair<int, int>>;
constexpr int unpaired = -1;

/// Holds the properties of nodes that decide the cost of an order, [node].
struct NodeCosts {
  std::vector<std::uint64_t> slices;  // one bit per slice that has weights for the node: it needs an
                                      // instruction
  std::vector<int> bank;              // 0 to 3: words of a quad in the same bank are read one after the other
};

/// Exchanges pairs, and nodes between two pairs, as long as that makes instructions or loads cheaper. Pairs
/// stay free of conflicts and keep their number. This is slow for hundreds of pairs.
NodePairs improved_order(NodePairs pairs, const ConflictGraph& graph, const NodeCosts& costs);

}  // namespace spsolve
