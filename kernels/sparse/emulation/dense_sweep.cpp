// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/emulation/dense_sweep.hpp"

#include <cmath>

#include "kernels/domain.hpp"

namespace spsolve {

DenseSweep::DenseSweep(const Operand& operand, double source_factor)
    : tile_(operand.tile),
      source_factor_(source_factor),
      rows_(static_cast<std::size_t>(volume(operand.tile))) {
  const WeightMatrix matrix = expand(operand);
  for (std::size_t m = 0; m < matrix.rows(); ++m) {
    const Index3& p = matrix.outputs[m];
    auto& row = rows_[static_cast<std::size_t>(index_of(p, tile_))];
    for (std::size_t k = 0; k < matrix.columns(); ++k)
      if (matrix.value(m, k) != 0.0) row.push_back({matrix.inputs[k] - p, matrix.value(m, k)});
  }
}

void DenseSweep::operator()(const Field& in, Field& out, const Box& region, const Field* source) const {
  if (region.empty()) return;
  const Index3 extent = region.extent();
#pragma omp parallel for schedule(static)
  for (std::int64_t line = 0; line < extent[z_axis] * extent[y_axis]; ++line) {
    Index3 p{region.begin[z_axis] + line / extent[y_axis], region.begin[y_axis] + line % extent[y_axis], 0};
    const std::int64_t in_tile =
        (wrap(p[z_axis], tile_[z_axis]) * tile_[y_axis] + wrap(p[y_axis], tile_[y_axis])) * tile_[x_axis];
    for (p[x_axis] = region.begin[x_axis]; p[x_axis] < region.end[x_axis]; ++p[x_axis]) {
      double sum = source ? source_factor_ * *source->at<double>(p) : 0.0;
      for (const Tap& tap : rows_[static_cast<std::size_t>(in_tile + wrap(p[x_axis], tile_[x_axis]))])
        sum = std::fma(tap.weight, *in.at<double>(p + tap.offset), sum);
      *out.at<double>(p) = sum;
    }
  }
}

}  // namespace spsolve
