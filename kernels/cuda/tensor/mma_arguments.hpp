// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a launch tells mma_sweep.cuh. Read by the host compiler and by NVRTC: no library types.

#include "kernels/cuda/launch/arguments.hpp"

namespace spsolve::cuda {

struct MmaArguments {
  TensorMap in_map;  // sm_90; elements of 8 bytes, boxes of a stage, or of (a part of) a row of it
  View in;
  View out;
  View source;    // fp64 for fp64, else fp32; data is null without a source
  Region region;  // what is written
  long long
      tile_begin[3];  // of the first tile of block (0, 0, 0): a multiple of the tile in global coordinates
  long long chunks;   // tiles along the march
  long long chunks_per_block;
  int lead;                  // columns that the copies begin before the window of a tile, to be aligned
  float unscale;             // what results are multiplied by: the weights are scaled
  const void* weights;       // [term][slice][block][step][16 bytes][lane]
  const unsigned* metadata;  // [block][step][lane]
};

}  // namespace spsolve::cuda
