// SPDX-License-Identifier: Apache-2.0
// mma_sweep.cuh with the constants of one case, for the host.
#include <algorithm>

#include "kernels/sparse/packed_operand.hpp"
#include "kernels/sparse/sparse_mma.hpp"

#include "cuda_block.hpp"

// Conversions of 16-bit formats are the only assembly in precision.cuh: the cases are fp32, tf32 and fp64.
#define asm(...) static_cast<void>(0)
#define __constant__

struct uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) double2 {
  double x, y;
};
inline double __hiloint2double(int high, int low) {
  return __longlong_as_double(static_cast<long long>(high) << 32 | static_cast<unsigned>(low));
}

using std::min;

alignas(128) unsigned char memory[1 << 18];  // what the kernel declares as its shared memory

#include "mma_sweep.cuh"

#include "emulated_mma.hpp"

namespace spsolve::cuda {
namespace {
const MmaArguments* arguments;
}

void launch_emulated_mma(const MmaArguments& a, int blocks_x, int blocks_y, int blocks_z, int threads) {
  arguments = &a;
  gridDim = {static_cast<unsigned>(blocks_x), static_cast<unsigned>(blocks_y),
             static_cast<unsigned>(blocks_z)};
  for (blockIdx.z = 0; blockIdx.z < gridDim.z; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) {
        std::memset(memory, 0xff, sizeof memory);  // NaN: what is not written must not be used
        ::emulated::fibers.run(threads, [] { mma_sweep(*arguments); });
      }
}

}  // namespace spsolve::cuda
