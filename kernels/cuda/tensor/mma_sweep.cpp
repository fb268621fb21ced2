// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/tensor/mma_sweep.hpp"

#include "kernels/cuda/launch/kernel_axes.hpp"
#include "kernels/cuda/launch/launch_shape.hpp"
#include "kernels/cuda/launch/make_tensor_map.hpp"
#include "kernels/cuda/tensor/mma_arguments.hpp"

namespace spsolve::cuda {

MmaSweep::MmaSweep(MmaProgram program, const Domain& domain, Precision precision, cudaStream_t stream)
    : OperandSweep(std::move(program), grid_axes(domain), precision, stream) {}

MmaSweep::MmaSweep(const Domain& domain, const Stencil& stencil, Precision precision, Layout layout,
                   TensorCores cores, cudaStream_t stream, const std::optional<MmaTile>& tile)
    : MmaSweep(required(MmaProgram::make(domain, stencil, precision, layout, cores,
                                         current_device().block_limits(), tile)),
               domain, precision, stream) {}

void MmaSweep::enqueue(const View& in, const View& out, const View& source, const Region& region) const {
  MmaArguments a = program_.arguments(in, out, source, region);
  if (const int group = program_.tile().group;
      group && ceil_div<std::int64_t>(a.chunks, group) > max_blocks_across) {
    Region low = region, high = region;
    low.end[plane_axis] = high.begin[plane_axis] =
        a.tile_begin[plane_axis] + max_blocks_across * group * program_.operand().tile[plane_axis];
    enqueue(in, out, source, low);
    return enqueue(in, out, source, high);
  }
  const std::int64_t columns = program_.blocks(a, column_axis), rows = program_.blocks(a, row_axis);
  if (rows > max_blocks_across) {
    for (const Region& half : halves(region, row_axis)) enqueue(in, out, source, half);
    return;
  }
  a.weights = weights_.data();
  a.metadata = static_cast<const unsigned*>(metadata_.data());
  if (device_.block_limits().copy_engine()) {
    a.in_map = make_tensor_map(program_.copied_box(a.in));
  }
  const SweepKernel& kernel = this->kernel(program_.is_aligned(a), source.data != nullptr);
  const auto slices = static_cast<std::int64_t>(program_.operand().slices.size());
  a.chunks_per_block = program_.tile().group
                           ? program_.tile().group
                           : balanced_stretch(a.chunks, rows * columns, resident_blocks(kernel), slices + 1);
  launch(kernel,
         dim3(static_cast<unsigned>(columns), static_cast<unsigned>(rows),
              static_cast<unsigned>(ceil_div(a.chunks, a.chunks_per_block))),
         a);
}

}  // namespace spsolve::cuda
