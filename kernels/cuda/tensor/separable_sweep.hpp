// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/tensor/operand_sweep.hpp"
#include "kernels/cuda/tensor/separable_program.hpp"

namespace spsolve::cuda {

/// Applies a sum of rank-one stencils on sparse tensor cores, as passes along x and y that are chained in
/// registers (separable.cuh). At low ranks it is limited by memory, whatever the radius. With taps along z,
/// the passes run in every plane, and planes are summed along z in fp32 in registers (separable_planes.cuh;
/// at most 15 taps along z, and at most 16 along y, which one window takes).
///
/// fp16, bf16: operands are as stored, weights are rounded to the format, and so is what one pass hands to
/// the next; sums are fp32. tf32: the same with fp32 storage and tf32 operands. fp32: data, weights and
/// intermediate values are split into two tf32 terms (22 bits) with the range of fp32; the error is below
/// 2^-21 sum |W| max |u|. Sums of weights are kept (SeparableOperand).
///
/// Instructions work on 16 x 16 points aligned in global coordinates, so results do not depend on regions or
/// on the decomposition. If a row's multiples of 16 bytes are not those of the global grid (blocks that begin
/// at odd points along x), fields are copied to aligned scratch memory.
class SeparableSweep : public OperandSweep<SeparableProgram> {
 public:
  /// Makes the sweep of a program for the current device. Work is enqueued on `stream`, which must outlive
  /// the sweep.
  SeparableSweep(SeparableProgram program, Precision precision, cudaStream_t stream);
  /// Makes the program, too. `tile` replaces the best known tile, for measurements. Throws
  /// Error(invalid_input) if there is no program.
  SeparableSweep(const SeparableStencil& stencil, Precision precision, cudaStream_t stream,
                 const std::optional<SeparableTile>& tile = std::nullopt);

 private:
  void enqueue(const View& in, const View& out, const View& source, const Region& region) const override;
  void sweep(const View& in, const View& out, const View& source, const Region& region, bool aligned) const;
  void sweep_line(const View& in, const View& out, const View& source, const Region& region,
                  bool aligned) const;
  View aligned_copy(const View& in, const Region& region) const;

  int element_bytes_;
  mutable DeviceBuffer scratch_;
};

}  // namespace spsolve::cuda
