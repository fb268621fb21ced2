// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/mma_sweep.hpp"

#include <algorithm>
#include <stdexcept>

#include "kernels/cuda/kernel_stencil.hpp"
#include "kernels/cuda/launch_shape.hpp"
#include "kernels/cuda/mma_arguments.hpp"
#include "kernels/cuda/tensor_map.hpp"
#include "kernels/cuda/view.hpp"

namespace spsolve::cuda {
namespace {

DeviceBuffer upload(const std::vector<std::uint32_t>& words, cudaStream_t stream) {
  DeviceBuffer buffer(std::max<std::size_t>(words.size(), 1) * sizeof(std::uint32_t));
  check_cuda(cudaMemcpyAsync(buffer.data(), words.data(), words.size() * sizeof(std::uint32_t),
                             cudaMemcpyHostToDevice, stream));
  check_cuda(cudaStreamSynchronize(stream));
  return buffer;
}

/// The view in elements of 8 bytes, in which a box of the copy engine can be widest.
View in_eights(View view, std::int64_t element) {
  view.end[column_axis] = (view.end[column_axis] - view.begin[column_axis]) * element / 8;
  view.begin[column_axis] = 0;
  for (const int axis : {plane_axis, row_axis}) view.stride[axis] = view.stride[axis] * element / 8;
  return view;
}

}  // namespace

MmaSweep::MmaSweep(const Domain& domain, const Stencil& stencil, Precision precision, Layout layout,
                   TensorCores cores, cudaStream_t stream, std::filesystem::path kernel_cache,
                   const MmaTile* tile)
    : axes_(grid_axes(domain)),
      precision_(precision),
      stream_(stream),
      device_(current_device()),
      program_(domain, stencil, precision, layout, cores, device_.block_limits(), tile),
      compiler_(device_.architecture(), std::move(kernel_cache)),
      weights_(upload(program_.weights(), stream)),
      metadata_(upload(program_.metadata(), stream)) {
  kernel(true, false);
}

void MmaSweep::operator()(const Field& in, Field& out, const Box& region, const Field* source) const {
  if (in.precision() != precision_ || out.precision() != precision_)
    throw std::invalid_argument("tensor-core sweep: fields of another precision");
  if (region.empty()) return;
  const auto element = static_cast<std::int64_t>(storage_bytes(precision_));
  const Index3& tile = program_.operand().tile;
  MmaArguments a{};
  a.in = view_of(in, axes_);
  a.out = view_of(out, axes_);
  if (source) a.source = view_of(*source, axes_);
  std::array<std::int64_t, 3> tiles{};
  const std::array<std::int64_t, 3> block{tile[0], program_.block_rows(), program_.block_columns()};
  for (int k = 0; k < axis_count; ++k) {
    a.region.begin[k] = region.begin[axes_[k]];
    a.region.end[k] = region.end[axes_[k]];
    a.tile_begin[k] = floor_to(a.region.begin[k], tile[k]);
    tiles[k] = pieces(a.region.end[k] - a.tile_begin[k], block[k]);
  }
  a.lead = static_cast<int>(wrap(a.tile_begin[2] + program_.window()[2] - a.in.begin[2], 16 / element));
  a.unscale = static_cast<float>(1.0 / program_.weight_scale());
  a.weights = weights_.data();
  a.metadata = static_cast<const unsigned*>(metadata_.data());
  if (device_.block_limits().copy_engine())
    a.in_map = make_tensor_map(in_eights(a.in, element), 8, program_.copies() > 1 ? 1 : program_.box_rows(),
                               program_.box_columns() / program_.copies() * static_cast<int>(element) / 8,
                               Swizzle::none, program_.copies() > 1 ? 1 : program_.stage_planes());
  const bool aligned = wrap(a.in.begin[2], 16 / element) == 0 && wrap(a.out.begin[2], 16 / element) == 0;
  const Loaded& loaded = kernel(aligned, source != nullptr);
  const auto slices = static_cast<std::int64_t>(program_.operand().slices.size());
  a.chunks = tiles[0];
  a.chunks_per_block = program_.tile().group ? program_.tile().group
                                             : steps_per_block(tiles[0], tiles[1] * tiles[2],
                                                               loaded.resident_blocks, slices + 1);
  const dim3 grid(static_cast<unsigned>(tiles[2]), static_cast<unsigned>(tiles[1]),
                  static_cast<unsigned>(pieces(a.chunks, a.chunks_per_block)));
  loaded.kernel.launch(grid, dim3(static_cast<unsigned>(program_.threads())),
                       static_cast<std::size_t>(program_.shared_bytes()), stream_, a);
}

const MmaSweep::Loaded& MmaSweep::kernel(bool aligned, bool with_source) const {
  const auto known = kernels_.find({aligned, with_source});
  if (known != kernels_.end()) return known->second;
  Kernel kernel(compiler_.compile("mma_sweep.cuh", program_.constants(aligned, with_source)), "mma_sweep");
  const auto bytes = static_cast<std::size_t>(program_.shared_bytes());
  kernel.allow_shared_bytes(bytes);
  const int resident = kernel.resident_blocks(program_.threads(), bytes) * device_.multiprocessors;
  return kernels_.try_emplace({aligned, with_source}, Loaded{std::move(kernel), resident}).first->second;
}

}  // namespace spsolve::cuda
