// SPDX-License-Identifier: Apache-2.0
// star_step.cuh with the constants of one case, for the host.
#include <algorithm>

#include "emulated_kernel.hpp"

using std::max, std::min;

#include "star_step.cuh"

#include "emulated.hpp"

namespace spsolve::cuda {
namespace {
const Arguments* arguments;
}

const char* const emulated_case = EMULATED_CASE;

void launch_emulated_star_step(const Arguments& a, int blocks_x, int blocks_y, int blocks_z) {
  arguments = &a;
  ::emulated::run_grid(blocks_x, blocks_y, blocks_z, 32 * constants::warps, [] { star_step(*arguments); });
}

}  // namespace spsolve::cuda
