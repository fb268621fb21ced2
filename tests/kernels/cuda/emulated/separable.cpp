// SPDX-License-Identifier: Apache-2.0
// Compiles separable.cuh or separable_planes.cuh with the constants of one case for the host.
#include "emulated_kernel.hpp"
#include "vectors.hpp"

#include "constants.cuh"

#ifdef EMULATED_IN_PLANES
#include "kernels/cuda/tensor/separable_planes.cuh"
#define separable separable_planes
#else
#include "kernels/cuda/tensor/separable.cuh"
#endif

#include "emulated.hpp"

namespace spsolve::cuda {

const char* const emulated_case = EMULATED_CASE;

void launch_emulated_separable(const SeparableArguments& a, const Index3& blocks, int threads) {
  ::emulated::run_grid(static_cast<int>(blocks[x_axis]), static_cast<int>(blocks[y_axis]),
                       static_cast<int>(blocks[z_axis]), threads, separable, a);
}

}  // namespace spsolve::cuda
