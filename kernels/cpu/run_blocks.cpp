// SPDX-License-Identifier: Apache-2.0
// Compiles run_blocks() with the vectors of the instruction set that the whole program is compiled for.
#include "kernels/cpu/run_blocks.hpp"

namespace spsolve {

template void run_blocks<std::experimental::native_simd<double>, double>(const BoundBlocks<double>&,
                                                                         std::int64_t, std::int64_t);
template void run_blocks<std::experimental::native_simd<float>, float>(const BoundBlocks<float>&,
                                                                       std::int64_t, std::int64_t);
template void run_blocks<std::experimental::native_simd<float>, Bfloat16>(const BoundBlocks<float>&,
                                                                          std::int64_t, std::int64_t);
template void run_blocks<std::experimental::native_simd<float>, Half>(const BoundBlocks<float>&, std::int64_t,
                                                                      std::int64_t);

}  // namespace spsolve
