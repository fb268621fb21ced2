// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/tensor_map.hpp"

#include <cudaTypedefs.h>

#include <cstring>
#include <string>

#include "kernels/cuda/driver.hpp"
#include "kernels/error.hpp"

namespace spsolve::cuda {

TensorMap make_tensor_map(const View& view, int element_bytes, int rows, int columns, Swizzle swizzle,
                          int planes) {
  static const auto encode = driver_function<PFN_cuTensorMapEncodeTiled_v12000>("cuTensorMapEncodeTiled");
  cuuint64_t extent[3], stride[2];
  for (int k = 0; k < 3; ++k) extent[k] = static_cast<cuuint64_t>(view.end[2 - k] - view.begin[2 - k]);
  for (int k = 0; k < 2; ++k) stride[k] = static_cast<cuuint64_t>(view.stride[1 - k] * element_bytes);
  const cuuint32_t box[3] = {static_cast<cuuint32_t>(columns), static_cast<cuuint32_t>(rows),
                             static_cast<cuuint32_t>(planes)},
                   steps[3] = {1, 1, 1};
  const CUtensorMapDataType type = element_bytes == 2   ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                   : element_bytes == 4 ? CU_TENSOR_MAP_DATA_TYPE_UINT32
                                                        : CU_TENSOR_MAP_DATA_TYPE_UINT64;
  const CUtensorMapSwizzle exchange = swizzle == Swizzle::bytes_128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                      : swizzle == Swizzle::bytes_64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                                                     : CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMap map;
  const CUresult status =
      encode(&map, type, 3, view.data, extent, stride, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, exchange,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS)
    throw Error(Status::device_failure, "cuTensorMapEncodeTiled fails with status " + std::to_string(status) +
                                            " for " + std::to_string(extent[2]) + " x " +
                                            std::to_string(extent[1]) + " x " + std::to_string(extent[0]) +
                                            " elements of " + std::to_string(element_bytes) + " bytes");
  TensorMap result;
  static_assert(sizeof result == sizeof map);
  std::memcpy(&result, &map, sizeof map);
  return result;
}

}  // namespace spsolve::cuda
