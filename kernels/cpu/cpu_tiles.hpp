// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/domain.hpp"

namespace spsolve {

/// Tiles stream along the slowest axis that the grid has, and are cut across it: (stream, cross) is (z, y) in
/// 3D and (y, z) below, where z has one point.
struct Axes {
  int stream, cross;

  explicit Axes(const Domain& domain)
      : stream(domain.dimensions == 3 ? z_axis : y_axis), cross(z_axis + y_axis - stream) {}
  Index3 point(std::int64_t s, std::int64_t c, std::int64_t x) const {
    return stream == z_axis ? Index3{s, c, x} : Index3{c, s, x};
  }
};

/// A region cut into tiles of nearly equal size, whole cache lines in x, so that no last tile is thin.
class CpuTiles {
 public:
  /// Tiles for `steps` fused steps on elements of `element_bytes`, for this machine's caches and threads.
  CpuTiles(const Box& region, const Axes& axes, const Index3& radius, int steps, std::int64_t element_bytes);

  std::int64_t count() const { return volume(counts_); }
  Box operator[](std::int64_t i) const;

 private:
  std::int64_t cut(int axis, std::int64_t i) const;

  Box region_;
  Index3 counts_;
  std::int64_t line_points_;
};

/// Bytes of a cache that sysconf knows by `name`, or `otherwise` where it does not know.
std::int64_t cache_bytes(int name, std::int64_t otherwise);

}  // namespace spsolve
