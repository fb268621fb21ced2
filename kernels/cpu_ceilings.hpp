// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/ceilings.hpp"

namespace spsolve {

/// The copy of an array far beyond the caches by all threads of this process, in B/s, with the reading of
/// every line that is written (write-allocate). Median of several.
Ceiling measure_cpu_copy();

/// That, and fused multiply-adds in registers, by all threads.
std::vector<Ceiling> measure_cpu_ceilings();

}  // namespace spsolve
