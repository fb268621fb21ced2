// SPDX-License-Identifier: Apache-2.0
// step.cuh with the constants of one case, for the host.
#include <algorithm>

#include "emulated_kernel.hpp"

using std::max, std::min;

#include "step.cuh"

#include "emulated.hpp"

namespace spsolve::cuda {
namespace {
const Arguments* arguments;
}

const char* const emulated_case = EMULATED_CASE;

void launch_emulated_step(const Arguments& a, int blocks) {
  arguments = &a;
  constexpr int threads = 256;
  ::emulated::run_grid(blocks, 1, 1, threads, [] { step(*arguments); });
}

}  // namespace spsolve::cuda
