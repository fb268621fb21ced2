// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mma_arguments.hpp"

namespace spsolve::cuda {

/// What the kernel in this program was compiled for.
extern const char* const emulated_case;

/// Runs all blocks of a sweep, one after the other.
void launch_emulated_mma(const MmaArguments& a, int blocks_x, int blocks_y, int blocks_z, int threads);

}  // namespace spsolve::cuda
