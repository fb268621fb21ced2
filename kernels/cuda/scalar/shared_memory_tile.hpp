// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/runtime/constants_text.hpp"

namespace spsolve::cuda {

/// Describes a tile of a single step that is held in shared memory (tile_io.cuh).
struct SharedMemoryTile {
  int lanes_x = 0;                    // lanes of a warp along x; its other lanes are rows
  int warps = 0;                      // stacked along rows
  int planes = 0;                     // written by a block
  int blocks_per_multiprocessor = 0;  // limit by registers and shared memory; 0: the tile does not fit
  int columns = 0, rows = 0;          // written by a block
  int pitch = 0;                      // row length in shared memory, in points
  std::size_t shared_bytes = 0;
  double cycles = 0;  // estimate for one step of the region, by which tiles are chosen

  /// Writes the constants that both kernels share.
  void put_constants(ConstantsText& text) const {
    text.integer("lanes_x", lanes_x);
    text.integer("warps", warps);
    text.integer("blocks_per_multiprocessor", blocks_per_multiprocessor);
    text.integer("pitch", pitch);
    text.integer("shared_bytes", static_cast<std::int64_t>(shared_bytes));
  }
};

}  // namespace spsolve::cuda
