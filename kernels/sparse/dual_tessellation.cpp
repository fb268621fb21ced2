// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/dual_tessellation.hpp"

#include <algorithm>

namespace spsolve {

Operand dual_tessellation(const Stencil& stencil) {
  const Box taps = tap_box(stencil);
  const std::int64_t n = taps.extent()[x_axis];
  const Index3 tile{1, 1, n + 1};
  std::vector<Index3> inputs;
  for (const std::int64_t first : {taps.begin[x_axis], taps.begin[x_axis] + n}) {
    Box half = taps;
    half.begin[x_axis] = first;
    half.end[x_axis] = first + n;
    const auto points = points_of(half);
    inputs.insert(inputs.end(), points.begin(), points.end());
  }
  return compress(weight_matrix(stencil, points_of(box_of(tile)), std::move(inputs)), tile, dense);
}

Stencil2Row stencil2row(int kernel_width, int height, int width) {
  const int n = kernel_width, period = n + 1, columns = n * height;
  Stencil2Row layout{(width + n) / period, (columns + 1 + 3) / 8 * 8 + 4, {}, {}};
  const auto place = [&](int y, int x) {  // equation 5; equation 6 is the same, n points further left
    const bool held = x >= 0 && (x + 1) % period != 0;
    return std::max(x, 0) / period * layout.pitch + (held ? n * y + x % period : columns);
  };
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      layout.a.push_back(place(y, x));
      layout.b.push_back(place(y, x - n));
    }
  }
  return layout;
}

std::vector<double> pack_fp64_weights(const Operand& operand) {
  constexpr int outputs = 8, k = 16, lanes = 32, registers = 4;
  const WeightMatrix matrix = expand(operand);
  std::vector<double> packed;
  for (std::size_t first = 0; first < matrix.rows(); first += outputs) {
    for (std::size_t step = 0; step < matrix.columns(); step += k) {
      for (int lane = 0; lane < lanes; ++lane) {
        for (int i = 0; i < registers; ++i) {
          const std::size_t m = first + lane / 4, column = step + lane % 4 + 4 * i;
          packed.push_back(m < matrix.rows() && column < matrix.columns() ? matrix.value(m, column) : 0.0);
        }
      }
    }
  }
  return packed;
}

}  // namespace spsolve
