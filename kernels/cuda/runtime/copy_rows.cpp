// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/runtime/copy_rows.hpp"

#include <algorithm>
#include <limits>

#include "kernels/cuda/runtime/device.hpp"

namespace spsolve::cuda {

void copy_rows(PitchedRows from, PitchedRows to, std::size_t bytes, std::size_t rows, std::size_t planes,
               cudaStream_t stream) {
  constexpr std::size_t max_pitch = std::numeric_limits<std::int32_t>::max();
  if (rows == 1) {  // one row per plane: treat the planes as rows of a single plane
    rows = planes;
    planes = 1;
    from.row_stride = from.plane_stride;
    to.row_stride = to.plane_stride;
  }
  if (rows == 1 || std::max(from.row_stride, to.row_stride) > max_pitch) {
    for (std::size_t plane = 0; plane < planes; ++plane)
      for (std::size_t row = 0; row < rows; ++row)
        check_cuda(cudaMemcpyAsync(to.data + plane * to.plane_stride + row * to.row_stride,
                                   from.data + plane * from.plane_stride + row * from.row_stride, bytes,
                                   cudaMemcpyDefault, stream));
    return;
  }
  if (planes == 1)
    return check_cuda(cudaMemcpy2DAsync(to.data, to.row_stride, from.data, from.row_stride, bytes, rows,
                                        cudaMemcpyDefault, stream));
  const auto pitched = [&](const PitchedRows& of) {
    return cudaPitchedPtr{of.data, of.row_stride, bytes, of.plane_stride / of.row_stride};
  };
  cudaMemcpy3DParms copy{};
  copy.srcPtr = pitched(from);
  copy.dstPtr = pitched(to);
  copy.extent = {bytes, rows, planes};
  copy.kind = cudaMemcpyDefault;
  check_cuda(cudaMemcpy3DAsync(&copy, stream));
}

}  // namespace spsolve::cuda
