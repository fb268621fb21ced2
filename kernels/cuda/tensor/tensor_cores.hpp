// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/runtime/block_limits.hpp"
#include "kernels/precision.hpp"
#include "kernels/sparse/layout.hpp"
#include "kernels/sparse/windowed_operand.hpp"

namespace spsolve::cuda {

/// Tensor cores that skip the zeros of a 2:4 operand, or that multiply them.
enum class TensorCores { sparse, dense };

/// Returns whether wgmma.sp can do a sweep with `fused` weights; it is faster wherever it can.
inline bool takes_wgmma(int dimensions, const Stencil& fused, Precision precision, Layout layout,
                        TensorCores cores, const BlockLimits& limits) {
  return limits.compute_capability == 90 && dimensions == 2 && layout == Layout::strided_swap &&
         cores == TensorCores::sparse && supports_window(fused, precision);
}

}  // namespace spsolve::cuda
