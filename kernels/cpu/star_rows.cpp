// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/star_rows.hpp"

namespace spsolve {

template <class T>
void correlate_star_widest(const Rows<T, T>& group) {
#ifdef SPSOLVE_AVX512
  if (has_avx512()) return correlate_star_avx512(group);
#endif
  correlate_star<std::experimental::native_simd<T>>(group);
}

template void correlate_star_widest(const Rows<double, double>&);
template void correlate_star_widest(const Rows<float, float>&);

}  // namespace spsolve
