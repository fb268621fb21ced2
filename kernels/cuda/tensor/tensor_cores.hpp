// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "kernels/cuda/runtime/block_limits.hpp"
#include "kernels/no_kernel.hpp"
#include "kernels/precision.hpp"
#include "kernels/sparse/layout.hpp"
#include "kernels/sparse/windowed_operand.hpp"

namespace spsolve::cuda {

/// Names tensor cores that skip the zeros of a 2:4 operand, or that multiply them.
enum class TensorCores { sparse, dense };

/// Says why a device has no instructions mma and mma.sp in the formats of this program; returns nothing if it
/// has them.
inline std::optional<NoKernel> why_no_mma(const BlockLimits& limits) {
  if (limits.compute_capability >= 80) return {};
  return NoKernel{"mma: only GPUs of compute capability 8.0 and up have the instructions, this one has " +
                  capability_text(limits)};
}

/// Is the largest number of rows of a tile's window whose dense weights fit the registers of a warpgroup:
/// radius 7.
constexpr int max_dense_rows = 18;

/// Returns whether wgmma.sp, or dense wgmma, can do a sweep with `fused` weights; it is faster than mma
/// wherever it can.
inline bool takes_wgmma(int dimensions, const Stencil& fused, Precision precision, Layout layout,
                        TensorCores cores, const BlockLimits& limits) {
  if (limits.compute_capability != 90 || dimensions != 2 || layout != Layout::strided_swap) return false;
  if (cores == TensorCores::sparse) return supports_window(fused, precision);
  const auto window = storage_bytes(precision) == 2 ? input_window(fused, precision) : std::nullopt;
  return window && window->parts == 1 && window->rows <= max_dense_rows;
}

}  // namespace spsolve::cuda
