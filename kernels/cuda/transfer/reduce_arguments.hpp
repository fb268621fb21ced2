// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/summation.hpp"

// This file holds the kernel arguments of reduce.cuh. Both the host compiler and NVRTC read this file.

namespace spsolve::cuda {

constexpr int reduce_threads = 256;   // threads of a block
constexpr int reduce_columns = 1024;  // points of a row that a warp takes at once

/// Describes the owned points of a field, or a box of them; strides are in elements.
struct StoredBlock {
  const void* data;
  long long plane_stride, row_stride;
};

/// Describes where the sampled points of a field are written; nothing is kept if data is null.
struct SampleBlock {
  void* data;
  long long plane_stride, row_stride;
  long long skipped[3];  // points of the field before the first sampled one
};

/// Holds the arguments of one launch of reduce.cuh.
struct ReduceArguments {
  StoredBlock now, before;  // `before` may be without data
  SampleBlock sample;
  long long planes, rows, columns;
  SumScales scales;
  void* results;  // Extremes or Sums, one per block; or the largest magnitude()
};

}  // namespace spsolve::cuda
