// SPDX-License-Identifier: Apache-2.0
// Compiles pack.cuh for the host.
#include "emulated_kernel.hpp"

struct uint4 {
  unsigned x, y, z, w;
};

#include "kernels/cuda/transfer/pack.cuh"

#include "emulated.hpp"

namespace spsolve::cuda {

void launch_emulated_pack(const PackArguments& a, int blocks) {
  ::emulated::run_grid(blocks, 1, 1, pack_threads, copy_boxes, a);
}

}  // namespace spsolve::cuda
