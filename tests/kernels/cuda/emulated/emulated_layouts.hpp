// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/ceilings/layout_arguments.hpp"

namespace spsolve::cuda {

/// Runs the blocks of a step one after the other, for stencils of 1 or 7 rows.
void launch_emulated_rows(const RowArguments& a, int kernel_rows, RowStep step);
/// Runs the blocks of a sweep one after the other, for stencils of 5 rows.
void launch_emulated_band(const BandArguments& a, BandForm form, bool staged);

}  // namespace spsolve::cuda
