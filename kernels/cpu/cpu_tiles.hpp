// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/domain.hpp"

namespace spsolve {

/// Names the axis that tiles stream along and the axis that they are cut across: (stream, cross) is (z, y) in
/// 3D and (y, z) in 2D and 1D, where z has one point.
struct Axes {
  int stream, cross;

  explicit Axes(const Domain& domain)
      : stream(domain.dimensions == 3 ? z_axis : y_axis), cross(z_axis + y_axis - stream) {}
  Index3 point(std::int64_t s, std::int64_t c, std::int64_t x) const {
    return stream == z_axis ? Index3{s, c, x} : Index3{c, s, x};
  }
};

/// Partitions a region into tiles of nearly equal size, so that no last tile is thin. Tile boundaries in x
/// lie on multiples of a cache line's points from the region's begin.
class CpuTiles {
 public:
  /// Chooses tiles for launches of `steps` steps on elements of `element_bytes`, for the threads of this
  /// machine, which take them as they become free. They keep `planes` planes in a `share` of its second-level
  /// cache.
  static CpuTiles for_steps(const Box& region, const Axes& axes, const Index3& radius, int steps,
                            std::int64_t planes, double share, std::int64_t element_bytes);
  /// Chooses tiles for launches of a single step, of which each thread takes neighbours. They keep `planes`
  /// planes in half of the second-level cache.
  static CpuTiles for_single_step(const Box& region, const Axes& axes, const Index3& radius,
                                  std::int64_t planes, std::int64_t element_bytes);

  std::int64_t count() const { return volume(counts_); }
  Box operator[](std::int64_t i) const;

 private:
  CpuTiles(const Box& region, std::int64_t element_bytes)
      : region_(region), line_points_(64 / element_bytes) {}
  std::int64_t cut(int axis, std::int64_t i) const;

  Box region_;
  Index3 counts_{};
  std::int64_t line_points_;
};

/// Returns the size in bytes of the cache that sysconf calls `name`, or `otherwise` if sysconf does not know
/// it.
std::int64_t cache_bytes(int name, std::int64_t otherwise);

/// Returns true if `bytes` do not stay in the last-level cache from one launch to the next. Only half of that
/// cache counts, since others use it too.
bool exceeds_cache(std::size_t bytes);

}  // namespace spsolve
