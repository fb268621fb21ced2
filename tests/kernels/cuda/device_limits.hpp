// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/runtime/block_limits.hpp"

namespace spsolve::testing {

/// Hold the limits of an A100, and of an H100 or H200.
constexpr cuda::BlockLimits ampere{80, 163 << 10, 108}, hopper{};

}  // namespace spsolve::testing
