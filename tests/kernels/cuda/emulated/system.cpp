// SPDX-License-Identifier: Apache-2.0
// Compiles the kernels of one group of statements for the host. EMULATED_GROUP is {number of the example,
// precision, compute capability, group}. With EMULATED_STEPS it is a march of several steps.
#define EMULATED_MEMORY_ELSEWHERE
#include "emulated_kernel.hpp"

// Each of these files has its own kernels.
#define point_group EMULATED_POINTS
#define march_group EMULATED_MARCH
#define march_steps EMULATED_STEPS
#ifdef EMULATED_STEPS
#include "kernels/cuda/system/march_steps.cuh"
#else
#include "kernels/cuda/system/point_group.cuh"
#endif
#ifdef EMULATED_WITH_MARCH
#include "kernels/cuda/system/march_group.cuh"
#endif

#include "emulated.hpp"
#include "emulated_system.hpp"

namespace {

using namespace spsolve;
using namespace spsolve::cuda;

template <void (*kernel)(GroupArguments)>
void launch(const SystemArguments<max_system_arrays>& a, int blocks, int threads) {
  GroupArguments given;  // sets the number of its arrays
  std::memcpy(static_cast<void*>(&given), &a, sizeof given);
  ::emulated::fibers.warps_run_ahead = warps_run_ahead;
  ::emulated::run_grid(blocks, 1, 1, threads, kernel, given);
}

const bool added = [] {
  EmulatedSystem& kernels = emulated_systems()[EmulatedKey EMULATED_GROUP];
#ifdef EMULATED_STEPS
  kernels.steps = launch<EMULATED_STEPS>;
#else
  kernels.points = launch<EMULATED_POINTS>;
#endif
#ifdef EMULATED_WITH_MARCH
  kernels.march = launch<EMULATED_MARCH>;
#endif
  return true;
}();

}  // namespace
