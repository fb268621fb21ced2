// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/sparse/emulation/sparse_sweep.hpp"
#include "kernels/sparse/separable.hpp"

namespace spsolve {

/// Applies a sum of rank-one terms on emulated sparse tensor cores, each term as passes along z, y, x.
/// Results between passes are rounded to the operand format, as in the register-chained kernels. Terms are
/// summed in fp32.
class EmulatedSeparableSweep : public Sweep {
 public:
  /// Takes the precisions of SparseSweep, but fp32 as two terms of tf32 (three products).
  /// The source is multiplied by `source_factor`.
  EmulatedSeparableSweep(const SeparableStencil& stencil, Precision precision, double source_factor = 1);

  void operator()(const Field& in, Field& out, const Box& region, const Field* source) const override;

 private:
  struct Pass {
    Index3 radius;
    SparseSweep sweep;
  };

  Precision precision_;
  std::vector<std::vector<Pass>> terms_;
};

}  // namespace spsolve
