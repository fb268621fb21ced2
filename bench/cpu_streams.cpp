// SPDX-License-Identifier: Apache-2.0
#include "bench/cpu_streams.hpp"

#include <algorithm>
#include <experimental/simd>
#include <limits>

#include "kernels/cpu/vector_operations.hpp"

namespace spsolve {

double stream(const std::vector<StreamedArray>& read, const std::vector<StreamedArray>& written) {
  using Doubles = std::experimental::native_simd<double>;
  constexpr std::size_t line = 8, vectors = line / Doubles::size();
  std::size_t lines = std::numeric_limits<std::size_t>::max(), moved = 0;
  for (const auto* const arrays : {&read, &written})
    for (const StreamedArray& array : *arrays) {
      lines = std::min(lines, array.bytes / (line * sizeof(double) * array.width));
      moved += array.width * line * sizeof(double);
    }
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < lines; ++i) {
    Doubles sums[vectors] = {};
    for (const StreamedArray& from : read)
      for (std::size_t j = i * from.width; j < (i + 1) * from.width; ++j)
        for (std::size_t k = 0; k < vectors; ++k)
          sums[k] += Doubles(from.first + j * line + k * Doubles::size(), std::experimental::element_aligned);
    for (const StreamedArray& to : written)
      for (std::size_t k = 0; k < vectors; ++k)
        detail::store_non_temporal(sums[k], to.first + i * line + k * Doubles::size());
  }
  return static_cast<double>(lines * moved);
}

StreamTriad::StreamTriad() : a_(length), b_(length, 1.0), c_(length, 2.0) {}

double StreamTriad::compute() {
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < length; ++i) a_[i] = b_[i] + 3.0 * c_[i];
  return 4.0 * sizeof(double) * length;
}

}  // namespace spsolve
