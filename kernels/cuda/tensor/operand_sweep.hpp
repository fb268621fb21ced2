// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/cuda/launch/launch_shape.hpp"
#include "kernels/cuda/launch/view.hpp"
#include "kernels/cuda/runtime/device.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/program.hpp"
#include "kernels/sweep.hpp"

namespace spsolve::cuda {

/// Implements sweeps whose weights lie in device memory as operands of tensor cores, with metadata. Program
/// describes the kernel of the sweep: kernel_name() (which is also the name of its file), constants(aligned,
/// with_source, source_factor), weights(), metadata(), threads(with_source) and shared_bytes(with_source).
template <class Program>
class OperandSweep : public Sweep {
 public:
  /// Compiles the kernel for fields whose rows are aligned.
  void prepare(bool with_source) const final { kernel(true, with_source); }

  /// Sweeps fields in device memory. Returns when the kernel is enqueued. The first call with (or without) a
  /// source, and the first call with unaligned rows, compiles.
  void operator()(const Field& in, Field& out, const Box& region, const Field* source) const final {
    if (in.precision() != precision_ || out.precision() != precision_)
      throw std::invalid_argument("sweep on tensor cores: the fields do not have the precision of the sweep");
    if (region.empty()) return;
    enqueue_near(view_of(in, axes_), view_of(out, axes_), source ? view_of(*source, axes_) : View{},
                 region_of(region, axes_));
  }

  const Program& program() const { return program_; }

  /// Multiplies the source by a factor, which is 1 at first. Call it before the first sweep.
  void scale_source(double factor) { source_factor_ = factor; }

 protected:
  /// Makes the sweep for the current device. `axes` is the grid axis of each kernel axis.
  OperandSweep(Program program, const std::array<int, 3>& axes, Precision precision, cudaStream_t stream)
      : axes_(axes),
        precision_(precision),
        stream_(stream),
        device_(current_device()),
        program_(std::move(program)),
        compiler_(device_.architecture()),
        weights_(upload(program_.weights())),
        metadata_(upload(program_.metadata())) {}

  /// Enqueues a launch that writes `region`; data of `source` is null without a source.
  virtual void enqueue(const View& in, const View& out, const View& source, const Region& region) const = 0;

  /// Holds a kernel, and the threads and shared memory of its blocks.
  struct SweepKernel {
    int threads;
    std::size_t shared_bytes;
    Kernel code;
  };

  const SweepKernel& kernel(bool aligned, bool with_source) const {
    const auto known = kernels_.find({aligned, with_source});
    if (known != kernels_.end()) return known->second;
    const std::string name = program_.kernel_name();
    const auto bytes = static_cast<std::size_t>(program_.shared_bytes(with_source));
    Kernel code(compiler_.begin("kernels/cuda/tensor/" + name + ".cuh",
                                program_.constants(aligned, with_source, source_factor_)),
                name, bytes);
    SweepKernel kernel{program_.threads(with_source), bytes, std::move(code)};
    return kernels_.emplace(std::pair{aligned, with_source}, std::move(kernel)).first->second;
  }

  /// Returns the number of resident blocks on the whole device.
  int resident_blocks(const SweepKernel& kernel) const {
    return device_.multiprocessors * kernel.code.resident_blocks(kernel.threads, kernel.shared_bytes);
  }

  template <class Arguments>
  void launch(const SweepKernel& kernel, const dim3& grid, const Arguments& arguments) const {
    kernel.code.launch(grid, dim3(static_cast<unsigned>(kernel.threads)), kernel.shared_bytes, stream_,
                       arguments);
  }

  DeviceBuffer upload(const std::vector<std::uint32_t>& words) const {
    DeviceBuffer buffer(std::max<std::size_t>(words.size(), 1) * sizeof(std::uint32_t));
    check_cuda(cudaMemcpyAsync(buffer.data(), words.data(), words.size() * sizeof(std::uint32_t),
                               cudaMemcpyHostToDevice, stream_));
    check_cuda(cudaStreamSynchronize(stream_));
    return buffer;
  }

  /// Enqueues the sweep in parts if rows are too long for one launch.
  void enqueue_near(const View& in, const View& out, const View& source, const Region& region) const {
    if (region.end[column_axis] - region.begin[column_axis] > max_columns) {
      for (const Region& half : halves(region, column_axis)) enqueue_near(in, out, source, half);
      return;
    }
    const auto element = static_cast<std::int64_t>(storage_bytes(precision_)),
               sum = precision_ == Precision::fp64 ? std::int64_t{8} : std::int64_t{4};
    enqueue(near(in, region, element), near(out, region, element),
            source.data ? near(source, region, sum) : source, region);
  }

  std::array<int, 3> axes_;
  Precision precision_;
  cudaStream_t stream_;
  DeviceInfo device_;
  Program program_;
  double source_factor_ = 1;
  KernelCompiler compiler_;
  DeviceBuffer weights_, metadata_;
  mutable std::map<std::pair<bool, bool>, SweepKernel> kernels_;  // made at first use
};

}  // namespace spsolve::cuda
