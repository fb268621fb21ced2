// SPDX-License-Identifier: Apache-2.0
// steps.cuh with the constants of one case, for the host.
#include <algorithm>

#include "emulated_kernel.hpp"

using std::max, std::min;

#include "steps.cuh"

#include "emulated_steps.hpp"

namespace spsolve::cuda {
namespace {
const Arguments* arguments;
}

const char* const emulated_case = EMULATED_CASE;

void launch_emulated_steps(const Arguments& a, int blocks_x, int blocks_y, int threads) {
  arguments = &a;
  ::emulated::run_grid(blocks_x, blocks_y, 1, threads, [] { steps(*arguments); });
}

}  // namespace spsolve::cuda
