// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/sparse/emulation/sparse_sweep.hpp"
#include "kernels/sparse/separable.hpp"

namespace spsolve {

/// One correlation with a sum of rank-one terms on emulated sparse tensor cores, each term as passes along z,
/// y, x. What a pass hands to the next is rounded to the operand format, as the register-chained kernels do;
/// terms are summed in fp32.
class SeparableSweep : public Sweep {
 public:
  /// Precisions as SparseSweep takes them, but fp32 as two terms of tf32 (three products).
  SeparableSweep(const SeparableStencil& stencil, Precision precision);

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
