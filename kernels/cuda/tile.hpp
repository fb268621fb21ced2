// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "kernels/cuda/kernel_stencil.hpp"

namespace spsolve::cuda {

/// The best tile of march.cuh for so many steps in one kernel, or none if its registers or shared memory do
/// not do (large radii, deep fusion). `shared_limit`: bytes that a block may have.
std::optional<Tile> choose_tile(const KernelStencil& stencil, const Formats& formats, int depth,
                                std::size_t shared_limit);

/// How many steps in one kernel are fastest; 0 if march.cuh does not take the stencil at all.
int preferred_depth(const KernelStencil& stencil, const Formats& formats, std::size_t shared_limit);

}  // namespace spsolve::cuda
