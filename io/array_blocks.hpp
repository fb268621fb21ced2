// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "io/hdf5/touched_chunks.hpp"
#include "kernels/box.hpp"
#include "kernels/rounding.hpp"

namespace spsolve {

/// Cuts the bytes of an array in C order into blocks, the unit in which they are written, checksummed and
/// verified. The blocks depend on the array alone, never on the number of ranks.
struct ArrayBlocks {
  static constexpr std::int64_t min_bytes = 4 << 20;  // one pwrite of this size reaches the disk's bandwidth
  static constexpr std::int64_t max_blocks = 4096;  // their checksums, 8 bytes each, stay below HDF5's 64 KiB

  std::int64_t points = 0;        // points of the array
  std::int64_t block_points = 0;  // points of every block but the last

  static constexpr ArrayBlocks of(std::int64_t points, std::int64_t element_bytes) {
    std::int64_t block_points = min_bytes / element_bytes;
    while (ceil_div(points, block_points) > max_blocks) block_points *= 2;
    return {points, block_points};
  }

  constexpr std::int64_t count() const { return ceil_div(points, block_points); }
  constexpr std::int64_t begin(std::int64_t block) const { return block * block_points; }
  constexpr std::int64_t end(std::int64_t block) const {
    return std::min(points, (block + 1) * block_points);
  }

  /// Returns the first block of a rank: each rank has the blocks [first_of(rank), first_of(rank + 1)). The
  /// blocks of a rank are consecutive, because most of their points lie in the rank's box.
  constexpr std::int64_t first_of(int rank, int ranks) const { return count() * rank / ranks; }
};

/// Calls visit(begin, points, position) for each piece of a row of `box` that lies among the elements [first,
/// last) of an array of `shape` in C order; `position` is its first element there.
template <class Visit>
constexpr void for_each_segment(const Index3& shape, const Box& box, std::int64_t first, std::int64_t last,
                                Visit&& visit) {
  if (box.empty() || first >= last) return;
  const std::int64_t row = shape[x_axis], plane = shape[y_axis] * row;
  const std::int64_t z_end = std::min(box.end[z_axis], (last - 1) / plane + 1);
  for (std::int64_t z = std::max(box.begin[z_axis], first / plane); z < z_end; ++z) {
    const std::int64_t y_begin = std::max(box.begin[y_axis], (first - z * plane) / row);
    const std::int64_t y_end = std::min(box.end[y_axis], (last - 1 - z * plane) / row + 1);
    for (std::int64_t y = y_begin; y < y_end; ++y) {
      const std::int64_t start = z * plane + y * row;
      const std::int64_t x_begin = std::max(box.begin[x_axis], first - start);
      const std::int64_t x_end = std::min(box.end[x_axis], last - start);
      if (x_begin < x_end) visit(Index3{z, y, x_begin}, x_end - x_begin, start + x_begin);
    }
  }
}

/// Calls visit(part) for boxes of at most `limit` points (>= 1) whose union is `box`, in C order.
template <class Visit>
void for_each_part(const Box& box, std::int64_t limit, Visit&& visit) {
  if (box.empty()) return;
  if (box.points() <= limit) {
    visit(box);
    return;
  }
  int axis = z_axis;
  while (box.extent()[axis] == 1) ++axis;
  Box low = box, high = box;
  low.end[axis] = high.begin[axis] = box.begin[axis] + box.extent()[axis] / 2;
  for_each_part(low, limit, visit);
  for_each_part(high, limit, visit);
}

/// A read of a dataset takes this number of values at most: 4 MiB of doubles.
constexpr std::int64_t points_of_read = 1 << 19;

/// Divides a grid into tiles of whole chunks (several if chunks are small), so that each chunk is decoded
/// once.
class ChunkTiles {
 public:
  ChunkTiles(const Index3& shape, const Index3& chunk) : shape_(shape), tile_(chunk) {
    for (const int axis : {x_axis, y_axis, z_axis})
      while (tile_[axis] < shape[axis] && 2 * volume(tile_) <= points_of_read) tile_[axis] *= 2;
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
  std::int64_t touched_by(const Box& box) const { return chunks_touched_by(box, tile_).points(); }
  template <class Visit>
  void for_each_touched_by(const Box& box, Visit&& visit) const {
    for_each_point(chunks_touched_by(box, tile_),
                   [&](const Index3& at) { visit(this->box(index_of(at, counts_))); });
  }

 private:
  Index3 shape_, tile_, counts_{};
};

/// Calls visit(part) for boxes of at most points_of_read points whose union is `box`, a part of a grid of
/// `shape`. If chunks are encoded, the parts of a chunk follow one another.
template <class Visit>
void for_each_part_of_chunks(const Index3& shape, const std::optional<Index3>& encoded_chunks, const Box& box,
                             Visit&& visit) {
  if (!encoded_chunks) return for_each_part(box, points_of_read, visit);
  ChunkTiles(shape, *encoded_chunks).for_each_touched_by(box, [&](const Box& tile) {
    for_each_part(intersect(tile, box), points_of_read, visit);
  });
}

}  // namespace spsolve
