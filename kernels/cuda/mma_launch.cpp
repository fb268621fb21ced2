// SPDX-License-Identifier: Apache-2.0
// What a launch of mma_sweep.cuh is told.
#include "kernels/cuda/mma_program.hpp"
#include "kernels/rounding.hpp"

namespace spsolve::cuda {

MmaArguments MmaProgram::arguments(const View& in, const View& out, const View& source,
                                   const Region& region) const {
  MmaArguments a{};
  a.in = in;
  a.out = out;
  a.source = source;
  a.region = region;
  for (int axis = 0; axis < axis_count; ++axis)
    a.tile_begin[axis] = floor_to(region.begin[axis], operand_.tile[axis]);
  a.chunks = pieces(region.end[plane_axis] - a.tile_begin[plane_axis], operand_.tile[plane_axis]);
  a.lead = static_cast<int>(
      wrap(a.tile_begin[column_axis] + window_[column_axis] - in.begin[column_axis], granule()));
  a.unscale = static_cast<float>(1.0 / scale_);
  return a;
}

std::int64_t MmaProgram::blocks(const MmaArguments& a, KernelAxis axis) const {
  return pieces<std::int64_t>(a.region.end[axis] - a.tile_begin[axis],
                              axis == row_axis ? block_rows() : block_columns());
}

bool MmaProgram::is_aligned(const MmaArguments& a) const {
  return wrap(a.in.begin[column_axis], granule()) == 0 && wrap(a.out.begin[column_axis], granule()) == 0;
}

MmaProgram::CopiedBox MmaProgram::copied_box(const View& in) const {
  const int element = static_cast<int>(storage_bytes(precision_));
  CopiedBox box{in, copies_ > 1 ? 1 : stage_planes(), copies_ > 1 ? 1 : box_rows_,
                box_columns_ / copies_ * element / 8};
  box.words.begin[column_axis] = 0;
  box.words.end[column_axis] = (in.end[column_axis] - in.begin[column_axis]) * element / 8;
  for (const int axis : {plane_axis, row_axis}) box.words.stride[axis] = in.stride[axis] * element / 8;
  return box;
}

}  // namespace spsolve::cuda
