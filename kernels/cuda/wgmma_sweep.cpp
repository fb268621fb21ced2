// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/wgmma_sweep.hpp"

#include <stdexcept>

#include "kernels/cuda/kernel_stencil.hpp"
#include "kernels/cuda/launch_shape.hpp"
#include "kernels/cuda/tensor_map.hpp"
#include "kernels/cuda/view.hpp"
#include "kernels/cuda/wgmma_arguments.hpp"

namespace spsolve::cuda {
namespace {

DeviceBuffer upload(const std::vector<std::uint32_t>& words, cudaStream_t stream) {
  DeviceBuffer buffer(words.size() * sizeof(std::uint32_t));
  check_cuda(cudaMemcpyAsync(buffer.data(), words.data(), buffer.bytes(), cudaMemcpyHostToDevice, stream));
  check_cuda(cudaStreamSynchronize(stream));
  return buffer;
}

}  // namespace

WgmmaSweep::WgmmaSweep(const Stencil& stencil, Precision precision, cudaStream_t stream,
                       std::filesystem::path kernel_cache, const WgmmaTile& tile)
    : precision_(precision),
      stream_(stream),
      device_(current_device()),
      program_(stencil, precision, device_.block_limits(), tile),
      compiler_(device_.architecture(), std::move(kernel_cache)),
      weights_(upload(program_.weights(), stream)),
      metadata_(upload(program_.metadata(), stream)) {
  kernel(true, false);
}

void WgmmaSweep::operator()(const Field& in, Field& out, const Box& region, const Field* source) const {
  if (in.precision() != precision_ || out.precision() != precision_)
    throw std::invalid_argument("wgmma sweep: fields of another precision");
  if (region.empty()) return;
  Domain domain;
  domain.dimensions = 2;
  const std::array<int, 3> axes = grid_axes(domain);
  WgmmaArguments a{};
  a.in = view_of(in, axes);
  a.out = view_of(out, axes);
  if (source) a.source = view_of(*source, axes);
  for (int k = 0; k < axis_count; ++k) {
    a.region.begin[k] = region.begin[axes[k]];
    a.region.end[k] = region.end[axes[k]];
  }
  a.first_row = floor_to(a.region.begin[plane_axis], wgmma_tile_rows);
  a.first_column = floor_to(a.region.begin[column_axis], wgmma_tile_columns);
  const int element = static_cast<int>(storage_bytes(precision_));
  a.lead = static_cast<int>(
      wrap(a.first_column + program_.window().first_column - a.in.begin[column_axis], 16 / element));
  const bool aligned = a.lead == 0 && wrap(a.out.begin[column_axis], 2) == 0;
  a.unscale = static_cast<float>(1.0 / program_.weight_scale());
  a.weights = static_cast<const uint4*>(weights_.data());
  a.metadata = static_cast<const unsigned*>(metadata_.data());
  a.in_map = make_tensor_map(a.in, element, 1, program_.box_columns(aligned), Swizzle::none, wgmma_tile_rows);
  const WgmmaTile& tile = program_.tile();
  const std::int64_t strips =
      pieces(a.region.end[column_axis] - a.first_column, tile.x_groups * wgmma_group_columns);
  a.tiles = static_cast<int>(pieces(a.region.end[plane_axis] - a.first_row, tile.y_groups * wgmma_tile_rows));
  a.tiles_per_block =
      static_cast<int>(steps_per_block(a.tiles, strips, device_.multiprocessors,
                                       pieces(program_.window().rows, tile.y_groups * wgmma_tile_rows) + 1));
  const dim3 grid(static_cast<unsigned>(strips), static_cast<unsigned>(pieces(a.tiles, a.tiles_per_block)));
  kernel(aligned, source != nullptr)
      .launch(grid, dim3(wgmma_threads), static_cast<std::size_t>(program_.shared_bytes()), stream_, a);
}

const Kernel& WgmmaSweep::kernel(bool aligned, bool with_source) const {
  const auto known = kernels_.find({aligned, with_source});
  if (known != kernels_.end()) return known->second;
  Kernel kernel(compiler_.compile("wgmma_sweep.cuh", program_.constants(aligned, with_source)),
                "wgmma_sweep");
  kernel.allow_shared_bytes(static_cast<std::size_t>(program_.shared_bytes()));
  return kernels_.try_emplace({aligned, with_source}, std::move(kernel)).first->second;
}

}  // namespace spsolve::cuda
