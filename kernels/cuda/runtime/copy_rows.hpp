// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace spsolve::cuda {

/// Describes where the rows of a box lie, in device or host memory. Strides are in bytes; the plane stride is
/// a multiple of the row stride.
struct PitchedRows {
  std::byte* data;
  std::size_t row_stride, plane_stride;
};

/// Enqueues a copy of `planes` planes of `rows` rows of `bytes` bytes each. Strides may have any length:
/// those above 2 GiB, the limit of cudaMemcpy3D, are copied row by row. Throws Error(device_failure).
void copy_rows(PitchedRows from, PitchedRows to, std::size_t bytes, std::size_t rows, std::size_t planes,
               cudaStream_t stream);

}  // namespace spsolve::cuda
