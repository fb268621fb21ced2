// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/tensor/operand_sweep.hpp"
#include "kernels/cuda/tensor/separable_program.hpp"

namespace spsolve::cuda {

/// A sum of rank-one stencils on sparse tensor cores, as passes along x and y that are chained in registers
/// (separable.cuh), limited by memory at low ranks whatever the radius; with taps along z these are made in
/// every plane, and summed along z in fp32 in registers (separable_planes.cuh; at most 15 taps along z, and
/// along y as many as one window takes: 16).
///
/// fp16, bf16: operands as stored, weights rounded to the format, what one pass hands to the next rounded to
/// it too; sums in fp32. tf32: the same with fp32 storage and tf32 operands. fp32: data, weights and what
/// passes hand on are split into two tf32 terms (22 bits), with the range of fp32: error below 2^-21 sum |W|
/// max |u|. Sums of weights are kept (SeparableOperand).
///
/// 16 x 16 points share instructions, aligned in global coordinates, so results do not depend on regions or
/// on the decomposition. Where a row's multiples of 16 bytes are not those of the global grid (blocks that
/// begin at odd points along x) fields are copied to scratch memory that is so aligned.
class SeparableSweep : public OperandSweep<SeparableProgram> {
 public:
  /// Work is enqueued on `stream`, which must outlive the sweep. The program is for the current device.
  SeparableSweep(SeparableProgram program, Precision precision, cudaStream_t stream);
  /// The program is made, too; `tile` instead of the best known one is for measurements. Throws
  /// Error(invalid_input) where there is no program.
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
