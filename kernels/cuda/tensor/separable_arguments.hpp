// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/launch/arguments.hpp"

namespace spsolve::cuda {

/// Is the largest number of weights along z, of all factors together.
constexpr int max_z_weights = 128;

/// Holds the arguments of one launch of separable.cuh or separable_planes.cuh. Axes are {z, y, x}.
struct SeparableArguments {
  TensorMap in_map;      // sm_90: boxes of one stage, in words of 8 bytes
  TensorMap out_map;     // sm_90 with bulk stores: boxes of what a step completes, 32, 64 or 128 bytes wide
  TensorMap source_map;  // sm_90 with a staged source: boxes of what a warp completes in a step
  View in;
  View out;
  View source;                   // fp32; data is null without a source
  Region region;                 // points to write
  long long first_row;           // first row of outputs: a multiple of 16
  long long first_column;        // first column, where memory is aligned: a multiple of 64
  int steps_per_strip;           // n: a strip has 32 y_windows n + 16 rows
  int planes_per_block;          // separable_planes.cuh: planes of output
  float scale;                   // factor of sums
  float along_z[max_z_weights];  // [z factor][tap], scaled
  const void* weights;           // SeparableProgram::weights(); uint4
  const unsigned* metadata;      // SeparableProgram::metadata()
};

}  // namespace spsolve::cuda
