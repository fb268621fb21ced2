// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/tensor/mma_program.hpp"
#include "kernels/cuda/tensor/operand_sweep.hpp"

namespace spsolve::cuda {

/// Any stencil on (sparse) tensor cores as one weight operand per plane of the march (mma_sweep.cuh).
///
/// fp16, bf16, tf32: data as stored (tf32: rounded when read), weights rounded to the format with their sum
/// kept (round_weights), products exact, sums in fp32. fp32: data and weights split into three bf16 terms,
/// six products, which have the range of fp32; error as SparseSweep. fp64: dense tensor cores in fp64,
/// whatever `cores` says. Tiles begin at multiples of the operand's tile in global coordinates, so results do
/// not depend on regions or on the decomposition.
class MmaSweep : public OperandSweep<MmaProgram> {
 public:
  /// For the current device; only the dimensions of `domain` matter. Work is enqueued on `stream`, which must
  /// outlive the sweep. Any radius: where sums of all planes within reach are too many for registers, blocks
  /// make planes in groups, and weights that shared memory does not hold are read from where they are.
  MmaSweep(MmaProgram program, const Domain& domain, Precision precision, cudaStream_t stream);
  /// The program is made, too; layouts: strided_swap and morph. `tile` instead of the best known one is for
  /// measurements. Throws Error(invalid_input) where there is no program.
  MmaSweep(const Domain& domain, const Stencil& stencil, Precision precision, Layout layout,
           TensorCores cores, cudaStream_t stream, const std::optional<MmaTile>& tile = std::nullopt);

 private:
  void enqueue(const View& in, const View& out, const View& source, const Region& region) const override;
};

}  // namespace spsolve::cuda
