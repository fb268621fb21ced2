// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kernels/cuda/launch/formats.hpp"
#include "kernels/cuda/runtime/constants_text.hpp"
#include "kernels/cuda/scalar/kernel_stencil.hpp"
#include "kernels/cuda/scalar/march_tile.hpp"

namespace spsolve::cuda {

/// Returns the constants that all scalar kernels need: types, walls, radius.
ConstantsText scalar_constants(const KernelStencil& stencil, const Formats& formats);

/// Returns the constants of scalar_constants() and a table of the taps.
ConstantsText tap_constants(const KernelStencil& stencil, const Formats& formats);

/// Returns the text of constants.cuh for march.cuh. `tile` is null for step.cuh and steps.cuh.
std::string constants_text(const KernelStencil& stencil, const Formats& formats, const MarchTile* tile);

}  // namespace spsolve::cuda
