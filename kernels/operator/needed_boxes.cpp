// SPDX-License-Identifier: Apache-2.0
#include "kernels/operator/needed_boxes.hpp"

#include "kernels/operator/interpret.hpp"

namespace spsolve {

std::vector<Box> needed_boxes(const Canonical& canonical, const Reading& root, const Box& box) {
  std::vector<Box> needed(canonical.nodes.size());
  const auto moved = [](const Box& from, const Index3& offset) {
    return Box{from.begin + offset, from.end + offset};
  };
  const auto need = [&](int node, const Box& where) { needed[node] = hull_of(needed[node], where); };
  need(root.node, moved(box, root.offset));
  for (int i = root.node; i >= 0; --i) {
    if (needed[i].empty()) continue;
    const CanonicalNode& node = canonical.nodes[i];
    for (const Reading& operand : node.operands) need(operand.node, moved(needed[i], operand.offset));
    if (node.start) need(node.start->node, moved(needed[i], node.start->offset));
    for (const ChainLink& link : node.links)
      for (const Tap& tap : link.stencil.taps()) need(link.node, moved(needed[i], tap.offset));
  }
  return needed;
}

}  // namespace spsolve
