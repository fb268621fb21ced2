// SPDX-License-Identifier: Apache-2.0
//
// This file is compiled for x86-64-v4. Everything it instantiates is inlined or has the 512-bit vector type
// in its name, so the linker cannot use this code for a function that older processors run.
#include "kernels/cpu/star_rows.hpp"

namespace spsolve {

template <class T>
void correlate_star_avx512(const Rows<T, T>& group) {
  using Vector = std::experimental::native_simd<T>;
  static_assert(sizeof(Vector) == 64);
  correlate_star<Vector>(group);
}

template void correlate_star_avx512(const Rows<double, double>&);
template void correlate_star_avx512(const Rows<float, float>&);

}  // namespace spsolve
