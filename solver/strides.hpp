// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "kernels/strides/strided_unit.hpp"
#include "solver/plan/method.hpp"
#include "solver/problem.hpp"

namespace spsolve {

/// Makes the sweeps of strides, except StrideSweeps::minus_source. `make` returns a sweep with given weights
/// and the factor of its source.
StrideSweeps make_stride_sweeps(
    const Problem& problem, const Method& method,
    const std::function<std::unique_ptr<Sweep>(const Stencil& weights, double source_factor)>& make);

}  // namespace spsolve
