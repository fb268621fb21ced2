// SPDX-License-Identifier: Apache-2.0
#include "kernels/operator/statement_boxes.hpp"

#include <algorithm>

#include "kernels/operator/interpret.hpp"

namespace spsolve {

namespace {

/// Returns the box of all sums of an offset of one box and an offset of the other.
Box sum_of(const Box& a, const Box& b) { return {a.begin + b.begin, a.end + b.end - Index3{1, 1, 1}}; }

/// Returns the offsets at which each statement must be computed so that all are known at a point. Beside
/// walls a point is read in place of its reflection, which lies no farther away on the other side.
std::vector<Box> computed_offsets(const SystemFacts& facts, const Domain& domain) {
  std::vector<Box> offsets(facts.equations.size(), box_of({1, 1, 1}));
  std::vector<std::size_t> statement_of(facts.equations.size());
  for (std::size_t s = 0; s < offsets.size(); ++s) statement_of[facts.equations[s].field] = s;
  for (std::size_t s = offsets.size(); s-- > 0;) {  // later statements have added what they read of this one
    for (int axis = 0; axis < axis_count; ++axis) {
      if (domain.periodic(axis)) continue;
      const std::int64_t farthest = std::max(-offsets[s].begin[axis], offsets[s].end[axis] - 1);
      offsets[s].begin[axis] = -farthest;
      offsets[s].end[axis] = farthest + 1;
    }
    for (const auto& [read, reach] : facts.equations[s].reach)
      if (read.level == Level::next) {
        Box& earlier = offsets[statement_of[read.field]];
        earlier = hull_of(earlier, sum_of(offsets[s], reach));
      }
  }
  return offsets;
}

}  // namespace

std::vector<Box> statement_boxes(const SystemFacts& facts, const Domain& domain, const Box& region) {
  std::vector<Box> boxes = computed_offsets(facts, domain);
  for (Box& box : boxes) box = domain.clip_to_walls(sum_of(region, box));
  return boxes;
}

Index3 halo_radius(const SystemFacts& facts, const Domain& domain) {
  const std::vector<Box> computed = computed_offsets(facts, domain);
  Index3 radius{};
  const auto hold = [&](const Box& offsets) {
    for (int axis = 0; axis < axis_count; ++axis)
      radius[axis] = std::max({radius[axis], -offsets.begin[axis], offsets.end[axis] - 1});
  };
  for (std::size_t s = 0; s < computed.size(); ++s) {
    hold(computed[s]);
    for (const auto& [read, offsets] : facts.equations[s].reach)
      if (read.level != Level::next) hold(sum_of(computed[s], offsets));
  }
  return radius;
}

}  // namespace spsolve
