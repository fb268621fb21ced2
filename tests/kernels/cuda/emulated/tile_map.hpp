// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>

#include "kernels/cuda/scalar/scalar_arguments.hpp"

namespace spsolve::cuda::emulated {

/// What a tensor map tells the copy engine; the emulated map holds its address. The second half of the
/// columns of a box is at the end of `period` columns, if it has one. Boxes of results of 64 or 128 bytes a
/// row are swizzled.
struct TileMap {
  View view;
  int element_bytes, rows, columns, planes = 1;
  long long period = 0;

  /// The place of a point from the first one of the view on, null outside.
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
