// SPDX-License-Identifier: Apache-2.0
// Compiles mma_sweep.cuh with the constants of one case for the host.
#include "kernels/sparse/emulation/sparse_mma.hpp"

#include "emulated_kernel.hpp"
#include "vectors.hpp"

#include "kernels/cuda/tensor/mma_sweep.cuh"

#include "emulated.hpp"

namespace spsolve::cuda {

const char* const emulated_case = EMULATED_CASE;

void launch_emulated_mma(const MmaArguments& a, int blocks_x, int blocks_y, int blocks_z, int threads) {
  ::emulated::run_grid(blocks_x, blocks_y, blocks_z, threads, mma_sweep, a);
}

}  // namespace spsolve::cuda
