// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "kernels/precision.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// Rounds weights to operands of a format such that their sum is kept, so that a conserved quantity does not
/// drift. Each weight is rounded to nearest. The error of the sum is then added to the largest weight; what
/// is too small for the spacing of that weight is added to the next largest, and so on. No weight moves by
/// more than a few of its spacings, and the sum changes by less than half a spacing of the smallest weight.
/// (It is a whole spacing if that weight has a mirror weight: weights that are symmetric about the middle
/// stay symmetric.)
///
/// fp16 weights count as scaled by power_of_two_scale of the largest, so that small ones keep their bits.
/// fp32 weights become sums of terms of bf16 (operand_terms()), the first on the leading_grid of the given
/// weights. fp64 weights are returned unchanged.
std::vector<double> round_weights(std::vector<double> weights, Precision precision);

/// Rounds the taps of a stencil and drops those that become zero. Returns nothing if all do: fused weights
/// may be too small for the format.
std::optional<Stencil> round_weights(const Stencil& stencil, Precision precision);

/// Returns the weights of single steps. Only those for operands of tf32 are rounded, as round_weights does.
/// If weights are symmetric along an axis, they are rounded to nearest and the centre takes the error of the
/// sum, because kernels fold symmetric taps.
Stencil step_weights(const Stencil& stencil, Precision precision);

}  // namespace spsolve
