// SPDX-License-Identifier: Apache-2.0
//
// This file is compiled for x86-64-v4. Everything it instantiates is inlined or has the 512-bit vector type
// in its name, so the linker cannot use this code for a function that older processors run.
#include "kernels/cpu/run_blocks.hpp"

namespace spsolve {

template <class T>
void run_blocks_avx512(const BoundBlocks<T>& blocks, std::int64_t begin, std::int64_t end) {
  using Vector = std::experimental::native_simd<T>;
  static_assert(sizeof(Vector) == 64);
  run_blocks<Vector, T>(blocks, begin, end);
}

template void run_blocks_avx512(const BoundBlocks<double>&, std::int64_t, std::int64_t);
template void run_blocks_avx512(const BoundBlocks<float>&, std::int64_t, std::int64_t);

}  // namespace spsolve
