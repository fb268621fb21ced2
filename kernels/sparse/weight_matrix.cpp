// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/weight_matrix.hpp"

#include <map>
#include <stdexcept>
#include <utility>

namespace spsolve {

Box tap_box(const Stencil& stencil) {
  Box box;
  for (const Tap& tap : stencil.taps()) box = hull(box, tap.offset);
  return box;
}

Box window_of(const Stencil& stencil, const Index3& tile) {
  const Box taps = tap_box(stencil);
  return {taps.begin, taps.end + tile - Index3{1, 1, 1}};
}

std::vector<Index3> points_of(const Box& box) {
  std::vector<Index3> points;
  points.reserve(static_cast<std::size_t>(box.points()));
  for_each_point(box, [&](const Index3& p) { points.push_back(p); });
  return points;
}

WeightMatrix weight_matrix(const Stencil& stencil, std::vector<Index3> outputs, std::vector<Index3> inputs) {
  WeightMatrix matrix{std::move(outputs), std::move(inputs), {}};
  matrix.values.assign(matrix.rows() * matrix.columns(), 0.0);
  std::map<Index3, std::size_t> column;
  for (std::size_t k = 0; k < matrix.columns(); ++k) column.emplace(matrix.inputs[k], k);
  for (std::size_t m = 0; m < matrix.rows(); ++m) {
    for (const Tap& tap : stencil.taps()) {
      const auto place = column.find(matrix.outputs[m] + tap.offset);
      if (place == column.end())
        throw std::invalid_argument("weight matrix: an output needs an input that no column holds");
      matrix.value(m, place->second) = tap.weight;
    }
  }
  return matrix;
}

WeightMatrix crush(const Stencil& stencil, const Index3& tile) {
  if (box_of(tile).empty()) throw std::invalid_argument("crush: the tile of outputs is empty");
  return weight_matrix(stencil, points_of(box_of(tile)), points_of(window_of(stencil, tile)));
}

WeightMatrix without_zero_columns(const WeightMatrix& matrix, int run) {
  std::vector<int> used;
  for (int first = 0; first < static_cast<int>(matrix.columns()); first += run) {
    bool zero = true;
    for (std::size_t m = 0; m < matrix.rows(); ++m)
      for (int k = first; k < first + run; ++k) zero = zero && matrix.value(m, k) == 0.0;
    for (int k = first; k < first + run && !zero; ++k) used.push_back(k);
  }
  return order_columns(matrix, used);
}

WeightMatrix order_columns(const WeightMatrix& matrix, const std::vector<int>& order) {
  WeightMatrix ordered{matrix.outputs, {}, std::vector<double>(matrix.rows() * order.size(), 0.0)};
  for (const int column : order) ordered.inputs.push_back(matrix.inputs.at(column < 0 ? ~column : column));
  for (std::size_t m = 0; m < matrix.rows(); ++m)
    for (std::size_t k = 0; k < order.size(); ++k)
      if (order[k] >= 0) ordered.value(m, k) = matrix.value(m, order[k]);
  return ordered;
}

}  // namespace spsolve
