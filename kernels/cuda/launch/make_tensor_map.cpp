// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/launch/make_tensor_map.hpp"

#include <cudaTypedefs.h>

#include <cstring>
#include <string>

#include "kernels/cuda/runtime/driver.hpp"
#include "kernels/error.hpp"

namespace spsolve::cuda {

namespace {

/// Describes an axis of a tensor map: its extent in elements, the stride in bytes, and the extent of a box in
/// elements.
struct Axis {
  std::int64_t extent, stride;
  int box;
};

Axis axis_of(const View& view, int axis, int element_bytes, int box) {
  return {view.end[axis] - view.begin[axis], view.stride[axis] * element_bytes, box};
}

/// Encodes a map; the contiguous axis comes first.
template <std::size_t rank>
TensorMap encode(void* data, int element_bytes, const Axis (&axes)[rank], Swizzle swizzle) {
  static const auto encode_tiled =
      driver_function<PFN_cuTensorMapEncodeTiled_v12000>("cuTensorMapEncodeTiled");
  cuuint64_t extent[rank], stride[rank];
  cuuint32_t box[rank], steps[rank];
  std::string extents;
  for (std::size_t k = 0; k < rank; ++k) {
    extent[k] = static_cast<cuuint64_t>(axes[k].extent);
    stride[k] = static_cast<cuuint64_t>(axes[k].stride);
    box[k] = static_cast<cuuint32_t>(axes[k].box);
    steps[k] = 1;
    extents = std::to_string(extent[k]) + (k > 0 ? " x " : "") + extents;
  }
  const CUtensorMapDataType type = element_bytes == 2   ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                   : element_bytes == 4 ? CU_TENSOR_MAP_DATA_TYPE_UINT32
                                                        : CU_TENSOR_MAP_DATA_TYPE_UINT64;
  const CUtensorMapSwizzle exchange = swizzle == Swizzle::bytes_128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                      : swizzle == Swizzle::bytes_64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                      : swizzle == Swizzle::bytes_32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                                     : CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMap map;
  // cuTensorMapEncodeTiled takes no stride for the first axis: it is contiguous.
  const CUresult status =
      encode_tiled(&map, type, rank, data, extent, stride + 1, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                   exchange, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS)
    throw Error(Status::device_failure, "cuTensorMapEncodeTiled fails with status " + std::to_string(status) +
                                            " for " + extents + " elements of " +
                                            std::to_string(element_bytes) + " bytes");
  TensorMap result;
  static_assert(sizeof result == sizeof map);
  std::memcpy(&result, &map, sizeof map);
  return result;
}

}  // namespace

TensorMap make_tensor_map(const CopiedBox& box, Swizzle swizzle) {
  const auto& [view, element_bytes, rows, columns, planes] = box;
  return encode<3>(
      view.data, element_bytes,
      {axis_of(view, column_axis, element_bytes, columns), axis_of(view, row_axis, element_bytes, rows),
       axis_of(view, plane_axis, element_bytes, planes)},
      swizzle);
}

TensorMap make_tile_map(const View& view, int element_bytes, int rows, int columns, std::int64_t period) {
  constexpr std::int64_t any_stride = 16;
  const Axis halves = period ? Axis{2, (period - columns / 2) * element_bytes, 2} : Axis{1, any_stride, 1};
  return encode<4>(
      view.data, element_bytes,
      {axis_of(view, column_axis, element_bytes, columns / halves.box), halves,
       axis_of(view, row_axis, element_bytes, rows), axis_of(view, plane_axis, element_bytes, 1)},
      Swizzle::none);
}

}  // namespace spsolve::cuda
