// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/summation.hpp"

// What a launch tells reduce.cuh. Read by the host compiler and by NVRTC.

namespace spsolve::cuda {

constexpr int reduce_threads = 256;   // of a block
constexpr int reduce_columns = 1024;  // of a row that a warp takes at once

/// The owned points of a field, or a box of it; strides in elements.
struct StoredBlock {
  const void* data;
  long long plane_stride, row_stride;
};

/// Where the kept points of a field go; nowhere without data.
struct SampleBlock {
  void* data;
  long long plane_stride, row_stride;
  long long skipped[3];  // points of the field before the first kept one
};

struct ReduceArguments {
  StoredBlock now, before;  // the latter without data where there is none
  SampleBlock sample;
  long long planes, rows, columns;
  SumScales scales;
  void* results;  // Extremes or Sums, one of each block; or the largest magnitude()
};

}  // namespace spsolve::cuda
