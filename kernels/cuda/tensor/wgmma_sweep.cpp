// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/tensor/wgmma_sweep.hpp"

#include "kernels/cuda/launch/kernel_axes.hpp"
#include "kernels/cuda/launch/launch_shape.hpp"
#include "kernels/cuda/launch/make_tensor_map.hpp"
#include "kernels/cuda/tensor/wgmma_arguments.hpp"

namespace spsolve::cuda {

WgmmaSweep::WgmmaSweep(WgmmaProgram program, Precision precision, cudaStream_t stream)
    : OperandSweep(std::move(program), grid_axes(Domain{.dimensions = 2}), precision, stream) {}

WgmmaSweep::WgmmaSweep(const Stencil& stencil, Precision precision, cudaStream_t stream,
                       const WgmmaTile& tile, TensorCores cores)
    : WgmmaSweep(
          required(WgmmaProgram::make(stencil, precision, current_device().block_limits(), tile, cores)),
          precision, stream) {}

void WgmmaSweep::enqueue(const View& in, const View& out, const View& source, const Region& region) const {
  WgmmaArguments a{};
  a.in = in;
  a.out = out;
  a.source = source;
  a.region = region;
  a.first_row = round_down(a.region.begin[plane_axis], wgmma_tile_rows);
  a.first_column = round_down(a.region.begin[column_axis], wgmma_tile_columns);
  const int element = static_cast<int>(storage_bytes(precision_));
  a.lead = static_cast<int>(
      wrap(a.first_column + program_.window().first_column - a.in.begin[column_axis], 16 / element));
  const bool aligned = a.lead == 0 && wrap(a.out.begin[column_axis], 2) == 0 &&
                       (!source.data || wrap(source.begin[column_axis], 2) == 0);
  a.unscale = static_cast<float>(1.0 / program_.weight_scale());
  a.weights = weights_.data();
  a.metadata = static_cast<const unsigned*>(metadata_.data());
  a.in_map = make_tensor_map({a.in, element, 1, program_.box_columns(aligned), wgmma_tile_rows});
  const SweepKernel& kernel = this->kernel(aligned, source.data != nullptr);
  const WgmmaTile& tile = program_.tile();
  const std::int64_t strips =
      ceil_div(a.region.end[column_axis] - a.first_column, tile.x_groups * wgmma_group_columns);
  a.tiles =
      static_cast<int>(ceil_div(a.region.end[plane_axis] - a.first_row, tile.y_groups * wgmma_tile_rows));
  a.tiles_per_block = static_cast<int>(
      balanced_stretch(a.tiles, strips, resident_blocks(kernel),
                       ceil_div(program_.window().rows, tile.y_groups * wgmma_tile_rows) + 1));
  launch(kernel,
         dim3(static_cast<unsigned>(strips), static_cast<unsigned>(ceil_div(a.tiles, a.tiles_per_block))), a);
}

}  // namespace spsolve::cuda
