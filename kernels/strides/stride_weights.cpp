// SPDX-License-Identifier: Apache-2.0
#include "kernels/strides/stride_weights.hpp"

#include <stdexcept>
#include <utility>

namespace spsolve {
namespace {

Stencil rounded(const LongWeights& weights) {
  const auto stencil = weights.stencil();
  if (!stencil) throw std::invalid_argument("every weight of the first launch of a stride is zero");
  return *stencil;
}

}  // namespace

StrideWeights stride_weights(const TwoLevelEquation& equation, int t) {
  if (t < 2) throw std::invalid_argument("a stride with a first launch must be at least two steps");
  const auto q = static_cast<long double>(equation.q);
  const LongWeights s(equation.s.taps()), one(1.0L);
  LongWeights before(0.0L), last = one, now = s;  // V_{t-2}, V_{t-1}, V_t
  for (int k = 1; k < t; ++k) {
    before = std::exchange(last, now);
    now = s * last + before.times(-q);
  }
  return {stride_leapfrog(equation.s, equation.q, t), rounded(now + last.times(-q)), rounded(last.times(q)),
          rounded((s + one.times(-1 - q)) * last), rounded(last.times(q) + before.times(-q))};
}

}  // namespace spsolve
