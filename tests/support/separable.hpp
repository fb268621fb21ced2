// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "kernels/precision.hpp"
#include "kernels/sparse/separable.hpp"
#include "tests/support/fields.hpp"

namespace spsolve::testing {

/// Returns a sum of rank-one terms of any sign. One of them is positive, so that the sum is not small by
/// accident. With taps along z, every other term shares its factor along z, and neighbouring terms have the
/// same factor along x up to a multiple.
SeparableStencil random_separable(std::mt19937_64& random, const Box& taps, int rank);

/// Computes the correlation on the owned points in double, one axis after the other.
std::vector<double> correlate(const SeparableStencil& stencil, const Field& in);

/// Bounds the error of a sweep of data up to 1 and a source up to 1. Roundings are relative to the sum of |x
/// factor| |y factor| |z factor|, since sums of terms may cancel. They are those of weights along x and y
/// (round_weights: a few spacings), of results between passes, and of data (tf32; fp32: split, without
/// products of the smaller terms). Sums on tensor cores contribute 2^-23 per addition.
double separable_bound(const SeparableStencil& stencil, Precision precision);

}  // namespace spsolve::testing
