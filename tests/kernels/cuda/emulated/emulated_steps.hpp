// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arguments.hpp"

namespace spsolve::cuda {

/// What the kernel in this program was compiled for.
extern const char* const emulated_case;

/// Runs all blocks of steps of tiles, one after the other.
void launch_emulated_steps(const Arguments& a, int blocks_x, int blocks_y, int stride);

}  // namespace spsolve::cuda
