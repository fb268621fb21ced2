// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>

#include "kernels/cuda/launch/view.hpp"

namespace spsolve::cuda::emulated {

/// Holds the content of a tensor map for the copy engine; the emulated map holds the address of this struct.
/// With a `period`, the second half of a box's columns lies at the end of rows of that many columns. Boxes of
/// results with rows of 64 or 128 bytes are swizzled.
struct TileMap : CopiedBox {
  long long period = 0;

  /// Returns the address of a point relative to the first one of the view, null outside the view.
  std::byte* at(const long long (&point)[3]) const {
    long long offset = 0;
    for (int axis = 0; axis < 3; ++axis) {
      if (point[axis] < 0 || point[axis] >= view.end[axis] - view.begin[axis]) return nullptr;
      offset += point[axis] * view.stride[axis];
    }
    return static_cast<std::byte*>(view.data) + offset * element_bytes;
  }
};

inline void set_tile_map(TensorMap& map, const TileMap* tile) { std::memcpy(&map, &tile, sizeof tile); }
inline const TileMap& tile_map(const TensorMap& map) {
  const TileMap* tile;
  std::memcpy(&tile, &map, sizeof tile);
  return *tile;
}

}  // namespace spsolve::cuda::emulated
