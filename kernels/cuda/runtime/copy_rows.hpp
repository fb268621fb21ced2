// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace spsolve::cuda {

/// Where the rows of a box lie in memory of a device or of the host; strides in bytes, that of planes a
/// multiple of that of rows.
struct Rows {
  std::byte* data;
  std::size_t row_stride, plane_stride;
};

/// Enqueues a copy of `planes` planes of `rows` rows of `bytes` bytes, however far apart: strides of
/// cudaMemcpy3D end at 2 GiB. Throws Error(device_failure).
void copy_rows(Rows from, Rows to, std::size_t bytes, std::size_t rows, std::size_t planes,
               cudaStream_t stream);

}  // namespace spsolve::cuda
