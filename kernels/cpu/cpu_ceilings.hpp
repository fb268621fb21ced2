// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/ceilings.hpp"

namespace spsolve {

/// Measures the rates of all threads of this process: the copy of an array far beyond the caches, in B/s,
/// counting the read of every line that is written (write-allocate), and fused multiply-adds in registers.
/// "Boost" is the best of several runs and "sustained" their median.
std::vector<Ceiling> measure_cpu_ceilings();

}  // namespace spsolve
