// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/strides/step_matrix.hpp"

namespace spsolve {

/// Holds the weights of launches that take t steps of u(n + 1) = S*u(n) - q u(n - 1) at once, in terms of the
/// state u(n) and the difference w(n) = u(n) - u(n - 1).
///
/// State and difference solve the same equation, so both satisfy u(n + t) = L_t*u(n) - q^t u(n - t)
/// (StrideLeapfrog). The first launch does not know u(n - t). With V_{-1} = 0, V_0 = 1, V_{k+1} = S*V_k - q
/// V_{k-1} it computes
///
///     u(n + t) = (V_t - q V_{t-1})*u(n) + q V_{t-1}*w(n)
///     w(n + t) = (S - 1 - q)*V_{t-1}*u(n) + q (V_{t-1} - V_{t-2})*w(n).
///
/// Differences are kept instead of u(n - 1), because the error of u(n) - u(n - 1) grows with the number of
/// steps that follow; rounding w changes it by a share of w, not of u.
struct StrideWeights {
  StrideLeapfrog stride;
  Stencil state_from_state, state_from_difference;
  Stencil difference_from_state, difference_from_difference;
};

/// Returns the weights of t >= 2 steps, computed in long double and then rounded. Throws
/// std::invalid_argument for t < 2, or where the weights of one of these stencils are all zero.
StrideWeights stride_weights(const TwoLevelEquation& equation, int t);

}  // namespace spsolve
