// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/tensor/mma_program.hpp"
#include "kernels/cuda/tensor/operand_sweep.hpp"

namespace spsolve::cuda {

/// Applies any stencil on (sparse) tensor cores, with one weight operand per plane of the march
/// (mma_sweep.cuh).
///
/// fp16, bf16, tf32: data are as stored (tf32: rounded when read), weights are rounded to the format with
/// their sum kept (round_weights), products are exact, sums are fp32. fp32: data and weights are split into
/// three bf16 terms with the range of fp32, which makes six products; the error is that of SparseSweep. fp64:
/// dense tensor cores in fp64, whatever `cores` says.
///
/// Tiles begin at multiples of the operand's tile in global coordinates, so results do not depend on regions
/// or on the decomposition.
class MmaSweep : public OperandSweep<MmaProgram> {
 public:
  /// Makes the sweep for the current device; only the dimensions of `domain` matter. Work is enqueued on
  /// `stream`, which must outlive the sweep.
  ///
  /// Any radius is possible: if the sums of all planes within reach are too many for registers, blocks make
  /// planes in groups, and weights that do not fit shared memory are read from global memory.
  MmaSweep(MmaProgram program, const Domain& domain, Precision precision, cudaStream_t stream);
  /// Makes the program, too. Layouts: strided_swap and morph. `tile` replaces the best known tile, for
  /// measurements. Throws Error(invalid_input) if there is no program.
  MmaSweep(const Domain& domain, const Stencil& stencil, Precision precision, Layout layout,
           TensorCores cores, cudaStream_t stream, const std::optional<MmaTile>& tile = std::nullopt);

 private:
  void enqueue(const View& in, const View& out, const View& source, const Region& region) const override;
};

}  // namespace spsolve::cuda
