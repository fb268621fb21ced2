// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/tensor/operand_sweep.hpp"
#include "kernels/cuda/tensor/wgmma_program.hpp"

namespace spsolve::cuda {

/// Applies any 2D stencil that has an input_window (up to 15 x 16 points in fp32, 15 x 32 in tf32, 33 x 32 in
/// 16 bits) on the sparse tensor cores of sm_90a, fed from shared memory (wgmma_sweep.cuh). Dense cores take
/// up to 15 x 16 points in 16 bits.
///
/// Data are rounded when read; weights are rounded with their sum kept (round_weights); sums are fp32. In
/// fp32, data and weights are pairs of fp16 numbers (paired_weights()), and data are multiplied by
/// data_scale().
///
/// Tiles begin at multiples of 4 rows and 16 columns in global coordinates, so results do not depend on
/// regions or on the decomposition.
class WgmmaSweep : public OperandSweep<WgmmaProgram> {
 public:
  /// Makes the sweep of a program for the current device. Work is enqueued on `stream`, which must outlive
  /// the sweep.
  WgmmaSweep(WgmmaProgram program, Precision precision, cudaStream_t stream);
  /// Makes the program, too; `tile` is for measurements. Throws Error(invalid_input) if there is no program.
  WgmmaSweep(const Stencil& stencil, Precision precision, cudaStream_t stream, const WgmmaTile& tile = {},
             TensorCores cores = TensorCores::sparse);

  bool scales_data() const override { return program_.pairs(); }

 private:
  void enqueue(const View& in, const View& out, const View& source, const Region& region) const override;
};

}  // namespace spsolve::cuda
