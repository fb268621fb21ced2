// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/ceilings.hpp"

namespace spsolve {

/// The copy of an array far beyond the caches, in B/s, with the reading of every line that is written
/// (write-allocate), and fused multiply-adds in registers, by all threads of this process. "Boost" is the
/// best of several, "sustained" their median.
std::vector<Ceiling> measure_cpu_ceilings();

}  // namespace spsolve
