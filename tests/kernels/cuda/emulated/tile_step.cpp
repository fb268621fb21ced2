// SPDX-License-Identifier: Apache-2.0
// Compiles a kernel of single steps by tiles, EMULATED_STEP in EMULATED_TEMPLATE, with the constants of one
// case for the host.
#include "emulated_kernel.hpp"

#include EMULATED_TEMPLATE

#include "emulated.hpp"

namespace spsolve::cuda {

const char* const emulated_case = EMULATED_CASE;

void launch_emulated_tile_step(const ScalarArguments& a, int blocks_x, int blocks_y, int blocks_z) {
  ::emulated::run_grid(blocks_x, blocks_y, blocks_z, 32 * constants::warps, EMULATED_STEP, a);
}

}  // namespace spsolve::cuda
