// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/cpu_tiles.hpp"

#include <omp.h>
#include <unistd.h>

#include <algorithm>

#include "kernels/rounding.hpp"

namespace spsolve {

std::int64_t cache_bytes(int name, std::int64_t otherwise) {
  const std::int64_t bytes = sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

bool exceeds_cache(std::size_t bytes) {
  // Virtual machines report the cache of a whole socket, of which few threads get a small part.
  constexpr std::int64_t most_per_thread = 64 << 20;
  const std::int64_t bytes_of_threads = omp_get_max_threads() * most_per_thread;
  return static_cast<std::int64_t>(bytes) >
         std::min(cache_bytes(_SC_LEVEL3_CACHE_SIZE, 32 << 20), bytes_of_threads) / 2;
}

CpuTiles CpuTiles::for_steps(const Box& region, const Axes& axes, const Index3& radius, int steps,
                             std::int64_t planes, double share, std::int64_t element_bytes) {
  CpuTiles tiles(region, element_bytes);
  Index3& counts = tiles.counts_;
  const double bytes = share * static_cast<double>(cache_bytes(_SC_LEVEL2_CACHE_SIZE, 512 << 10));
  const std::int64_t points =
      std::max<std::int64_t>(static_cast<std::int64_t>(bytes) / (planes * element_bytes), 64);
  // Tiles are as long in x as possible, but rows must stay in cache until their neighbours read them.
  const Index3 extent = region.extent();
  const std::int64_t overlap = 2 * (steps - 1) * radius[x_axis];
  const std::int64_t longest =
      std::max<std::int64_t>(std::min<std::int64_t>(points, 4096), 16 * overlap + 4 * radius[x_axis] + 64);
  counts[x_axis] = ceil_div(extent[x_axis], longest);
  const std::int64_t rows = std::max<std::int64_t>(points / (extent[x_axis] / counts[x_axis] + overlap), 1);
  counts[axes.cross] = ceil_div(extent[axes.cross], rows);
  // A cut along the stream axis costs a warm-up of (steps - 1) * radius planes, so cut only if threads would
  // idle otherwise.
  const std::int64_t threads = omp_get_max_threads();
  const std::int64_t across = counts[axes.cross] * counts[x_axis];
  const std::int64_t wanted = across >= 4 * threads || threads == 1 ? 1 : ceil_div(4 * threads, across);
  const std::int64_t shortest = 8 * steps * radius[axes.stream] + 8;
  counts[axes.stream] = std::clamp<std::int64_t>(extent[axes.stream] / shortest, 1, wanted);
  return tiles;
}

CpuTiles CpuTiles::for_single_step(const Box& region, const Axes& axes, const Index3& radius,
                                   std::int64_t planes, std::int64_t element_bytes) {
  CpuTiles tiles(region, element_bytes);
  Index3& counts = tiles.counts_;
  // Rows at the edges of a tile are read by its neighbour too, so the planes get half of the second-level
  // cache.
  const std::int64_t points = std::max<std::int64_t>(
      cache_bytes(_SC_LEVEL2_CACHE_SIZE, 512 << 10) / 2 / (planes * element_bytes), 64);
  const Index3 extent = region.extent();
  const std::int64_t longest = std::max<std::int64_t>(std::min<std::int64_t>(points, 4096), 512);
  counts[x_axis] = ceil_div(extent[x_axis], longest);
  const std::int64_t rows = std::max<std::int64_t>(points / (extent[x_axis] / counts[x_axis]), 1);
  counts[axes.cross] = ceil_div(extent[axes.cross], std::max(rows, 2 * radius[axes.cross]));
  // A thread gets neighbouring tiles, whose memory it touched first, so there are as many parts along the
  // slowest axis as threads. What the parts read of each other is small beside them.
  const std::int64_t threads = omp_get_max_threads();
  counts[axes.stream] =
      std::clamp<std::int64_t>(extent[axes.stream] / (4 * radius[axes.stream] + 4), 1, threads);
  return tiles;
}

std::int64_t CpuTiles::cut(int axis, std::int64_t i) const {
  if (i == counts_[axis]) return region_.end[axis];
  const std::int64_t offset = region_.extent()[axis] * i / counts_[axis];
  return region_.begin[axis] + (axis == x_axis ? offset / line_points_ * line_points_ : offset);
}

Box CpuTiles::operator[](std::int64_t i) const {
  const Index3 at = point_of(i, counts_);
  Box tile;
  for (int axis = 0; axis < axis_count; ++axis) {
    tile.begin[axis] = cut(axis, at[axis]);
    tile.end[axis] = cut(axis, at[axis] + 1);
  }
  return tile;
}

}  // namespace spsolve
