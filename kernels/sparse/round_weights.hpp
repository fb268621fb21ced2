// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "kernels/precision.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// Weights rounded to operands of a format such that their sum is kept, so that rounding does not make a
/// conserved quantity drift. Each is rounded to nearest; what the sum has lost then goes to the largest
/// weight, what is too small for its spacing to the next largest, and so on: no weight moves by more than a
/// few of its spacings, and the sum by less than half a spacing of the smallest (a whole one where that has
/// an image: weights that are equal to their mirror images about the middle stay so). fp16 weights count as
/// scaled by power_of_two_scale of the largest, so that small ones keep their bits; those of fp32 become what
/// terms of bf16 hold (operand_terms()), the first on the leading_grid of what is given. fp64 weights are
/// returned as they are.
std::vector<double> round_weights(std::vector<double> weights, Precision precision);

/// The same for the taps of a stencil; those that round to zero are dropped. Nothing where all do: fused
/// weights may be too small for the format.
std::optional<Stencil> round_weights(const Stencil& stencil, Precision precision);

/// The weights of single steps, which are rounded for operands of tf32 only, as round_weights does. Those
/// that mirror each other along an axis are rounded to nearest, the point itself takes what the sum has lost:
/// kernels fold them.
Stencil step_weights(const Stencil& stencil, Precision precision);

}  // namespace spsolve
