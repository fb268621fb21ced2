// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <optional>

#include "kernels/cuda/arguments.hpp"
#include "kernels/cuda/device.hpp"
#include "kernels/cuda/mma_program.hpp"
#include "kernels/sweep.hpp"

namespace spsolve::cuda {

/// Any stencil on (sparse) tensor cores as one weight operand per plane of the march (mma_sweep.cuh).
///
/// fp16, bf16, tf32: data as stored (tf32: rounded when read), weights rounded to the format with their sum
/// kept (round_weights), products exact, sums in fp32. fp32: data and weights split into three bf16 terms,
/// six products, which have the range of fp32; error as SparseSweep. fp64: dense tensor cores in fp64,
/// whatever `cores` says. Tiles begin at multiples of the operand's tile in global coordinates, so results do
/// not depend on regions or on the decomposition.
class MmaSweep : public Sweep {
 public:
  /// For the current device; only the dimensions of `domain` matter. Layouts: strided_swap and morph. Work is
  /// enqueued on `stream`, which must outlive the sweep. `tile` instead of the best known one is for
  /// measurements. Any radius: where sums of all planes within reach are too many for registers, blocks make
  /// planes in groups, and weights that shared memory does not hold are read from where they are. Throws
  /// std::invalid_argument as MmaProgram does.
  MmaSweep(const Domain& domain, const Stencil& stencil, Precision precision, Layout layout,
           TensorCores cores, cudaStream_t stream,
           std::filesystem::path kernel_cache = KernelCompiler::default_cache(),
           const MmaTile* tile = nullptr);

  /// Fields of device memory. Returns when the kernel is enqueued; the first call with (or without) a source,
  /// and with fields whose rows begin elsewhere, compiles.
  void operator()(const Field& in, Field& out, const Box& region, const Field* source) const override;

  const MmaProgram& program() const { return program_; }

 private:
  struct Loaded {
    Kernel kernel;
    int resident_blocks;
  };
  const Loaded& kernel(bool aligned, bool with_source) const;

  std::array<int, 3> axes_;  // grid axis of each kernel axis
  Precision precision_;
  cudaStream_t stream_;
  DeviceInfo device_;
  MmaProgram program_;
  KernelCompiler compiler_;
  DeviceBuffer weights_, metadata_;
  mutable std::map<std::pair<bool, bool>, Loaded> kernels_;  // made when first needed
};

}  // namespace spsolve::cuda
