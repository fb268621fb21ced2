// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file is included first by the file of a program that compiles a kernel for the host. Each program has
// one such file.

#include <algorithm>
#include <cstring>

#include "cuda_block.hpp"
#include "kernels/precision.hpp"

// The remaining asm statements only keep compilers from optimisations that are wrong or slow on GPUs.
#define asm(...) static_cast<void>(0)

#ifdef EMULATED_MEMORY_ELSEWHERE
extern unsigned char memory[1 << 18];
#else
alignas(1024) unsigned char memory[1 << 18];  // the shared memory that the kernel declares
#endif

namespace emulated {

/// Runs all blocks of a grid, one after the other.
template <class Arguments>
void run_grid(int blocks_x, int blocks_y, int blocks_z, int threads, void (*kernel)(Arguments),
              const Arguments& arguments) {
  static void (*launched)(Arguments);
  static const Arguments* given;
  launched = kernel;
  given = &arguments;
  gridDim = {static_cast<unsigned>(blocks_x), static_cast<unsigned>(blocks_y),
             static_cast<unsigned>(blocks_z)};
  blockDim = {static_cast<unsigned>(threads), 1, 1};
  for (blockIdx.z = 0; blockIdx.z < gridDim.z; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) {
        std::memset(memory, 0xff, sizeof memory);  // NaN: a kernel must not use what it has not written
        fibers.run(threads, [] { launched(*given); });
      }
}

}  // namespace emulated
