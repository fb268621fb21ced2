// SPDX-License-Identifier: Apache-2.0
// Compiles march.cuh with the constants of one case for the host.
#include "emulated_kernel.hpp"

#include "kernels/cuda/scalar/march.cuh"

#include "emulated.hpp"

namespace spsolve::cuda {

const char* const emulated_case = EMULATED_CASE;

void launch_emulated_march(const ScalarArguments& a, int blocks_x, int blocks_y, int blocks_z, int threads) {
  ::emulated::run_grid(blocks_x, blocks_y, blocks_z, threads, march, a);
}

}  // namespace spsolve::cuda
