// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file holds the kernel arguments of mma_sweep.cuh. Both the host compiler and NVRTC read this file: it
// uses no library types.

#include "kernels/cuda/launch/arguments.hpp"

namespace spsolve::cuda {

/// Holds the arguments of one launch of mma_sweep.cuh.
struct MmaArguments {
  TensorMap in_map;  // sm_90: words of 8 bytes; a box is a stage, or a row of it, or a piece of a row
  View in;
  View out;
  View source;              // fp64 in fp64 sweeps, else fp32; data is null without a source
  Region region;            // points to write
  long long tile_begin[3];  // first tile of block (0, 0, 0): a multiple of the tile in global coordinates
  long long chunks;         // tiles along the march
  long long chunks_per_block;
  int lead;                  // columns by which copies begin before the window of a tile, for alignment
  float unscale;             // factor of results that undoes the scaling of weights
  const void* weights;       // [term][slice][block][step][16 bytes][lane]
  const unsigned* metadata;  // [block][step][lane]
};

}  // namespace spsolve::cuda
