// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "io/array_blocks.hpp"
#include "kernels/box.hpp"
#include "kernels/rounding.hpp"

namespace spsolve {

constexpr std::int64_t points_at_once = 1 << 19;  // 4 MiB of doubles

/// Divides a grid into tiles of whole chunks (several if chunks are small), so that each chunk is decoded
/// once.
class ChunkTiles {
 public:
  ChunkTiles(const Index3& shape, const Index3& chunk) : shape_(shape), tile_(chunk) {
    for (const int axis : {x_axis, y_axis, z_axis})
      while (tile_[axis] < shape[axis] && 2 * volume(tile_) <= points_at_once) tile_[axis] *= 2;
    for (int axis = 0; axis < axis_count; ++axis) counts_[axis] = ceil_div(shape[axis], tile_[axis]);
  }

  std::int64_t count() const { return volume(counts_); }
  Box box(std::int64_t tile) const {
    Box box;
    const Index3 at = point_of(tile, counts_);
    for (int axis = 0; axis < axis_count; ++axis) {
      box.begin[axis] = at[axis] * tile_[axis];
      box.end[axis] = std::min(shape_[axis], box.begin[axis] + tile_[axis]);
    }
    return box;
  }
  /// Returns the number of tiles that a box touches.
  std::int64_t touched_by(const Box& box) const {
    std::int64_t touched = box.empty() ? 0 : 1;
    for (int axis = 0; axis < axis_count && touched; ++axis)
      touched *= ceil_div(box.end[axis], tile_[axis]) - box.begin[axis] / tile_[axis];
    return touched;
  }
  template <class Visit>
  void for_each_touched_by(const Box& box, Visit&& visit) const {
    if (box.empty()) return;
    Box tiles;
    for (int axis = 0; axis < axis_count; ++axis) {
      tiles.begin[axis] = box.begin[axis] / tile_[axis];
      tiles.end[axis] = ceil_div(box.end[axis], tile_[axis]);
    }
    for_each_point(tiles, [&](const Index3& at) { visit(this->box(index_of(at, counts_))); });
  }

 private:
  Index3 shape_, tile_, counts_{};
};

/// Calls visit(part) for boxes of at most points_at_once points whose union is `box`, a part of a grid of
/// `shape`. If chunks are encoded, the parts of a chunk follow one another.
template <class Visit>
void for_each_part_of_chunks(const Index3& shape, const std::optional<Index3>& encoded_chunks, const Box& box,
                             Visit&& visit) {
  if (!encoded_chunks) return for_each_part(box, points_at_once, visit);
  ChunkTiles(shape, *encoded_chunks).for_each_touched_by(box, [&](const Box& tile) {
    for_each_part(intersect(tile, box), points_at_once, visit);
  });
}

}  // namespace spsolve
