// SPDX-License-Identifier: Apache-2.0
#include "solver/strides.hpp"

#include "kernels/strides/stride_weights.hpp"
#include "solver/plan/strided_equation.hpp"

namespace spsolve {

StrideSweeps make_stride_sweeps(
    const Problem& problem, const Method& method,
    const std::function<std::unique_ptr<Sweep>(const Stencil& weights, double source_factor)>& make) {
  const auto equation = std::get<TwoLevelEquation>(strided_equation(problem));
  const StrideWeights weights = stride_weights(equation, method.fuse);
  StrideSweeps sweeps;
  sweeps.stride = make(weights.stride.now, weights.stride.previous);
  sweeps.state_from_state = make(weights.state_from_state, 1);
  sweeps.state_from_difference = make(weights.state_from_difference, 1);
  sweeps.difference_from_state = make(weights.difference_from_state, 1);
  sweeps.difference_from_difference = make(weights.difference_from_difference, 1);
  return sweeps;
}

}  // namespace spsolve
