// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/runtime/constants_text.hpp"

namespace spsolve::cuda {

/// How a single step is cut into tiles in shared memory (tile_io.cuh).
struct SharedTile {
  int lanes_x = 0;                    // of a warp, side by side along x; the others are rows
  int warps = 0;                      // stacked along rows
  int planes = 0;                     // that a block writes
  int blocks_per_multiprocessor = 0;  // what registers and shared memory are limited to; 0: it does not fit
  int columns = 0, rows = 0;          // that a block writes
  int pitch = 0;                      // of rows in shared memory, in points
  std::size_t shared_bytes = 0;
  double cycles = 0;  // of a step of the region, by which tiles are chosen

  void put_constants(ConstantsText& text) const {
    text.integer("lanes_x", lanes_x);
    text.integer("warps", warps);
    text.integer("blocks_per_multiprocessor", blocks_per_multiprocessor);
    text.integer("pitch", pitch);
    text.integer("shared_bytes", static_cast<std::int64_t>(shared_bytes));
  }
};

}  // namespace spsolve::cuda
