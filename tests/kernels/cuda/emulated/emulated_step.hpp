// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arguments.hpp"

namespace spsolve::cuda {

/// What the kernel in this program was compiled for.
extern const char* const emulated_case;

/// Runs so many blocks of a step, one after the other.
void launch_emulated_step(const Arguments& a, int blocks);

}  // namespace spsolve::cuda
