// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/sparse/layout.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// Holds error bounds of one launch, by source of error. Each bounds |computed - exact| in every p-norm
/// (hence both the relative L2 error and the maximum error), relative to sum |w^t| times the norm of the
/// field before the launch. The bounds hold for data in the normal range of the formats.
struct LaunchError {
  double storage = 0;       // rounding of the result to storage
  double weights = 0;       // difference of the used weights from w^t: rounding and dropped terms
  double operands = 0;      // rounding of data, and of results of one pass, to operands of the next
  double accumulation = 0;  // rounding of sums

  double total() const { return storage + weights + operands + accumulation; }
};

/// Bounds the error of `steps` single steps of the scalar unit: chains of fused multiply-adds in the
/// precision of sums. Operands of tf32 are rounded in every step, and 16-bit formats are rounded to storage
/// at the end.
LaunchError scalar_error(const Stencil& stencil, int steps, Precision precision);

/// States the promise of fp32: errors are at most this many times those of the scalar unit
/// (docs/internals/numerics.md).
constexpr double promised_over_scalar = 4;

/// Estimates the L2 error of sweeps with fused weights in fp32, divided by that of single steps of the scalar
/// unit.
struct ErrorOverScalar {
  double launch;  // after one launch, for random data of any sign; for separable sweeps in 1D and 2D accurate
                  // to a third
  double run;     // after 1000 steps, when the weights' errors in the slowest-decaying wave have added up
};
ErrorOverScalar fp32_error_over_scalar(const Stencil& stencil, int steps, Layout layout, double dropped);

/// Bounds the error of a sweep with `fused` weights on tensor cores, using the weights as they are rounded
/// and split for the instructions. Tensor cores may truncate sums: unit roundoff 2^-23 (Fasi, Higham,
/// Mikaitis and Pranesh 2021).
LaunchError sweep_error(const Stencil& fused, Precision precision, Layout layout, double dropped);

}  // namespace spsolve
