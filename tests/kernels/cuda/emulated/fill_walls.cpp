// SPDX-License-Identifier: Apache-2.0
// Compiles fill_walls.cuh for the host.
#include "emulated_kernel.hpp"

// The emulation of blocks comes first.
#include "kernels/cuda/system/fill_walls.cuh"

#include "emulated.hpp"

namespace spsolve::cuda {

void launch_emulated_fill_walls(const FillArguments& a, Precision precision, int blocks, int arrays) {
  const auto kernel = precision == Precision::fp64   ? fill_walls_fp64
                      : precision == Precision::fp32 ? fill_walls_fp32
                      : precision == Precision::bf16 ? fill_walls_bf16
                                                     : fill_walls_fp16;
  ::emulated::run_grid(blocks, arrays, 1, fill_threads, kernel, a);
}

}  // namespace spsolve::cuda
