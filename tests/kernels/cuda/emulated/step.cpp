// SPDX-License-Identifier: Apache-2.0
// Compiles step.cuh with the constants of one case for the host.
#include "emulated_kernel.hpp"

#include "kernels/cuda/scalar/step.cuh"

#include "emulated.hpp"

namespace spsolve::cuda {

const char* const emulated_case = EMULATED_CASE;

void launch_emulated_step(const ScalarArguments& a, int blocks) {
  constexpr int threads = 256;
  ::emulated::run_grid(blocks, 1, 1, threads, step, a);
}

}  // namespace spsolve::cuda
