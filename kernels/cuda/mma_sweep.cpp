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
  Region written{};
  for (int k = 0; k < axis_count; ++k) {
    written.begin[k] = region.begin[axes_[k]];
    written.end[k] = region.end[axes_[k]];
  }
  MmaArguments a = program_.arguments(view_of(in, axes_), view_of(out, axes_),
                                      source ? view_of(*source, axes_) : View{}, written);
  a.weights = weights_.data();
  a.metadata = static_cast<const unsigned*>(metadata_.data());
  if (device_.block_limits().copy_engine()) {
    const MmaProgram::CopiedBox box = program_.copied_box(a.in);
    a.in_map = make_tensor_map(box.words, 8, box.rows, box.columns, Swizzle::none, box.planes);
  }
  const Loaded& loaded = kernel(program_.is_aligned(a), source != nullptr);
  const auto slices = static_cast<std::int64_t>(program_.operand().slices.size());
  const std::int64_t columns = program_.blocks(a, column_axis), rows = program_.blocks(a, row_axis);
  a.chunks_per_block = program_.tile().group
                           ? program_.tile().group
                           : steps_per_block(a.chunks, rows * columns, loaded.resident_blocks, slices + 1);
  const dim3 grid(static_cast<unsigned>(columns), static_cast<unsigned>(rows),
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
