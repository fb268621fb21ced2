// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/windowed_operand.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "kernels/rounding.hpp"
#include "kernels/sparse/round_weights.hpp"
#include "kernels/sparse/weight_matrix.hpp"

namespace spsolve {

std::optional<InputWindow> input_window(const Stencil& stencil, Precision precision) {
  constexpr int max_steps = 36;  // as many as have their weights in the registers of a warpgroup
  const Box taps = tap_box(stencil);
  const auto parts_from = [&](std::int64_t column) {
    return static_cast<int>(ceil_div(taps.end[x_axis] - column, InputWindow::tile_columns));
  };
  InputWindow window{InputWindow::tile_rows - 1 + static_cast<int>(taps.extent()[y_axis]), taps.begin[y_axis],
                     taps.begin[x_axis], parts_from(taps.begin[x_axis])};
  // The window begins at the largest of these multiples with which it has no further part.
  for (const int multiple : {4, 8}) {
    const std::int64_t aligned = round_down(taps.begin[x_axis], multiple);
    if (parts_from(aligned) == window.parts) window.first_column = aligned;
  }
  if (precision == Precision::fp64 || taps.begin[z_axis] != 0 || taps.end[z_axis] != 1 ||
      window.steps(precision) > max_steps || window.parts > (precision == Precision::fp32 ? 1 : 2))
    return std::nullopt;
  return window;
}

namespace {

/// Makes the operand of a part of the window from dense weights within a radius. It swaps runs of `run`
/// columns.
Operand operand_of(const std::vector<double>& weights, const Index3& radius, const InputWindow& window,
                   int run, int part = 0) {
  const Box taps = grow(box_of({1, 1, 1}), radius);
  constexpr int apart = InputWindow::tile_columns;
  const std::int64_t first_column = window.first_column + part * apart;
  Operand operand{{1, InputWindow::tile_rows, InputWindow::tile_columns}, {}, {}, {run, 2 * run}, {}, {}};
  for (int m = 0; m < InputWindow::tile_rows * InputWindow::tile_columns; ++m)
    operand.outputs.push_back({0, m / 16, m % 8 * 2 + m / 8 % 2});  // m and m + 8 are neighbours
  for (int row = 0; row < window.rows; ++row)
    for (int first = 0; first < apart; first += run)
      for (const int swapped : {0, apart})
        for (int i = 0; i < run; ++i)
          operand.inputs.push_back({0, window.first_row + row, first_column + first + i + swapped});
  for (const Index3& output : operand.outputs)
    for (std::size_t k = 0; k < operand.inputs.size(); ++k) {
      const std::int64_t reach = operand.inputs[k][x_axis] - first_column - output[x_axis];
      if (reach < 0 || reach >= apart) continue;
      const Index3 tap = operand.inputs[k] - output;
      operand.values.push_back(
          contains(taps, tap) ? weights[static_cast<std::size_t>(index_of(tap - taps.begin, taps.extent()))]
                              : 0.0);
      operand.indices.push_back(static_cast<std::uint8_t>(k % (2 * run)));
    }
  return operand;
}

}  // namespace

Operand windowed_operand(const Stencil& stencil, const InputWindow& window, Precision element, int part) {
  return operand_of(dense_weights(stencil), stencil.radius(), window, element == Precision::tf32 ? 1 : 2,
                    part);
}

PairedWeights paired_weights(const Stencil& stencil) {
  PairedWeights pair{dense_weights(stencil), {}, weight_scale(stencil, Precision::fp16)};
  std::map<std::int64_t, double> rows;  // sums of magnitudes
  double largest = 0;
  for (const Tap& tap : stencil.taps())
    largest = std::max(largest, rows[tap.offset[y_axis]] += std::abs(tap.weight));
  const double grid = leading_grid(pair.scale * largest) / 2;
  for (double& weight : pair.first) {
    const double scaled = pair.scale * weight;
    weight = split_weight(scaled, Precision::fp16, 2, grid).front();
    pair.second.push_back(scaled - weight);
  }
  pair.second = round_weights(pair.second, Precision::fp16);
  return pair;
}

SplitOperand windowed_pair(const Stencil& stencil, const InputWindow& window) {
  const PairedWeights pair = paired_weights(stencil);
  SplitOperand both{{operand_of(pair.first, stencil.radius(), window, 2),
                     operand_of(pair.second, stencil.radius(), window, 2)},
                    pair.scale,
                    pair_term_scale};
  for (double& value : both.terms[1].values) value *= pair_term_scale;
  return both;
}

bool supports_window(const Stencil& stencil, Precision precision) {
  return stencil.radius()[y_axis] > 0 && input_window(stencil, precision);
}

}  // namespace spsolve
