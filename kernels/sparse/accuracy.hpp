// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/sparse/layout.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// Bounds on the error of one launch, by where it comes from. Each bounds |computed - exact| in every p-norm
/// (so the relative L2 error and the largest error too), as a share of sum |w^t| times the norm of the field
/// before the launch. For data within the normal range of the formats.
struct LaunchError {
  double storage = 0;       // rounding of the result to storage
  double weights = 0;       // what the weights that are used differ from w^t: rounding, terms left out
  double operands = 0;      // rounding of data to operands, of one pass's results to the next one's operands
  double accumulation = 0;  // sums

  double total() const { return storage + weights + operands + accumulation; }
};

/// `steps` single steps of the scalar unit: chains of fused multiply-adds in the precision of sums, operands
/// of tf32 rounded every step, 16-bit formats rounded to storage at the end.
LaunchError scalar_error(const Stencil& stencil, int steps, Precision precision);

/// What fp32 promises: errors at most so many times those of the scalar unit (docs/design.md).
constexpr double promised_over_scalar = 4;

/// The L2 error of sweeps with fused weights in fp32 over that of single steps of the scalar unit: estimates.
struct ErrorOverScalar {
  double launch;  // after one launch, of data of any sign at random; separable sweeps in 1D and 2D within a
                  // third
  double run;     // after 1000 steps, when what weights do to the wave that lasts longest has added up
};
ErrorOverScalar fp32_error_over_scalar(const Stencil& stencil, int steps, Layout layout, double dropped);

/// A sweep with `fused` weights on tensor cores, of the actual weights as they are rounded and split for the
/// instructions. Tensor cores may truncate sums: unit roundoff 2^-23 (Fasi, Higham, Mikaitis and Pranesh
/// 2021).
LaunchError sweep_error(const Stencil& fused, Precision precision, Layout layout, double dropped);

}  // namespace spsolve
