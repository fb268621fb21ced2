// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>

#include "arguments.hpp"

namespace spsolve::cuda::emulated {

/// What a tensor map tells the copy engine; the emulated map holds its address. The second half of the
/// columns of a box is at the end of `period` columns, if it has one.
struct TileMap {
  View view;
  int element_bytes, rows, columns, planes = 1;
  long long period = 0;
};

inline void set_tile_map(TensorMap& map, const TileMap* tile) { std::memcpy(&map, &tile, sizeof tile); }
inline const TileMap& tile_map(const TensorMap& map) {
  const TileMap* tile;
  std::memcpy(&tile, &map, sizeof tile);
  return *tile;
}

}  // namespace spsolve::cuda::emulated
