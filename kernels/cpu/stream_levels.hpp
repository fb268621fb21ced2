// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <vector>

#include "kernels/domain.hpp"

namespace spsolve {

/// Returns the points at which each time level 1 .. `steps` must be known for a tile: the tile grown by the
/// reach of later steps, clipped to the walls.
inline std::vector<Box> level_boxes(const Domain& domain, const Box& tile, const Index3& radius, int steps) {
  std::vector<Box> boxes;
  for (int level = 1; level <= steps; ++level)
    boxes.push_back(domain.clip_to_walls(grow(tile, (steps - level) * radius)));
  return boxes;
}

/// Streams the time levels of a tile along an axis: as soon as level l - 1 is `reach` planes ahead, level l
/// computes its next plane (2.5D temporal blocking; Nguyen et al. 2010). `boxes` are those of level_boxes().
/// Calls `compute_plane` with the level and the index of each plane.
template <class ComputePlane>
void stream_levels(const std::vector<Box>& boxes, int axis, std::int64_t reach,
                   const ComputePlane& compute_plane) {
  const int steps = static_cast<int>(boxes.size());
  const std::int64_t front_end = boxes.back().end[axis] + (steps - 1) * reach;
  for (std::int64_t front = boxes.front().begin[axis]; front < front_end; ++front)
    for (int level = 1; level <= steps; ++level) {
      const Box& box = boxes[static_cast<std::size_t>(level - 1)];
      const std::int64_t s = front - (level - 1) * reach;
      if (s >= box.begin[axis] && s < box.end[axis]) compute_plane(level, s);
    }
  // Non-temporal stores must be visible before another thread, or a message, reads them.
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace spsolve
