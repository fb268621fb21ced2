// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/launch/formats.hpp"
#include "kernels/cuda/runtime/block_limits.hpp"
#include "kernels/cuda/scalar/kernel_stencil.hpp"

namespace spsolve::cuda {

/// Estimates the cycles that step.cuh, one thread per point, takes for one step of a region.
double point_step_cycles(const KernelStencil& stencil, const Region& region, const Formats& formats,
                         const BlockLimits& limits);

}  // namespace spsolve::cuda
