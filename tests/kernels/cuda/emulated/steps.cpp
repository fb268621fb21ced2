// SPDX-License-Identifier: Apache-2.0
// Compiles steps.cuh with the constants of one case for the host.
#include "emulated_kernel.hpp"

#include "kernels/cuda/scalar/steps.cuh"

#include "emulated.hpp"

namespace spsolve::cuda {

const char* const emulated_case = EMULATED_CASE;

void launch_emulated_steps(const ScalarArguments& a, int blocks_x, int blocks_y, int stride) {
  const auto kernel = stride == 32 ? steps_32 : stride == 64 ? steps_64 : steps_128;
  ::emulated::run_grid(blocks_x, blocks_y, 1, small_grid_threads, kernel, a);
}

}  // namespace spsolve::cuda
