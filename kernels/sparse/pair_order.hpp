// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/sparse/conflict_graph.hpp"

namespace spsolve {

/// Nodes of a conflict graph two by two, or alone beside `nobody`, in the order in which instructions of the
/// widest shape take them: two pairs share a register, one word for each lane of a quad, and four registers
/// an instruction.
using NodePairs = std::vector<std::pair<int, int>>;
constexpr int nobody = -1;

/// What the order of nodes decides about the cost of instructions, [node].
struct NodeCosts {
  std::vector<std::uint64_t> slices;  // a bit for each that has weights for it: it needs an instruction
  std::vector<int> bank;              // 0 to 3: words of a quad in the same one are read one after the other
};

/// Exchanges pairs, and nodes of two pairs, as long as that makes instructions or loads cheaper; pairs stay
/// free of conflicts, and as many. Of hundreds of pairs it takes long.
NodePairs exchanged(NodePairs pairs, const ConflictGraph& graph, const NodeCosts& costs);

}  // namespace spsolve
