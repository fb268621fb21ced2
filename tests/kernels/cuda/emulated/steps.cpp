// SPDX-License-Identifier: Apache-2.0
// steps.cuh with the constants of one case, for the host.
#include <algorithm>

#include "emulated_kernel.hpp"

using std::max, std::min;

#include "steps.cuh"

#include "emulated.hpp"

namespace spsolve::cuda {
namespace {
const Arguments* arguments;
}

const char* const emulated_case = EMULATED_CASE;

void launch_emulated_steps(const Arguments& a, int blocks_x, int blocks_y, int stride) {
  arguments = &a;
  const auto kernel = [&] {
    switch (stride) {
      case 32:
        return +[] { steps_32(*arguments); };
      case 64:
        return +[] { steps_64(*arguments); };
      default:
        return +[] { steps_128(*arguments); };
    }
  }();
  ::emulated::run_grid(blocks_x, blocks_y, 1, step_threads, kernel);
}

}  // namespace spsolve::cuda
