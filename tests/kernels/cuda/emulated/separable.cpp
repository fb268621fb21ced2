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

void launch_emulated_separable(const SeparableArguments& a, const std::array<std::int64_t, 3>& blocks,
                               int threads) {
  const auto [z, y, x] = blocks;
  ::emulated::run_grid(static_cast<int>(x), static_cast<int>(y), static_cast<int>(z), threads, separable, a);
}

}  // namespace spsolve::cuda
