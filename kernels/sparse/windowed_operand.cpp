// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/windowed_operand.hpp"

#include <map>

#include "kernels/rounding.hpp"
#include "kernels/sparse/weight_matrix.hpp"

namespace spsolve {

std::optional<InputWindow> input_window(const Stencil& stencil, Precision precision) {
  constexpr int most_steps = 36;
  const Box taps = tap_box(stencil);
  const auto parts_from = [&](std::int64_t column) {
    return static_cast<int>(ceil_div(taps.end[x_axis] - column, InputWindow::tile_columns));
  };
  InputWindow window{InputWindow::tile_rows - 1 + static_cast<int>(taps.extent()[y_axis]), taps.begin[y_axis],
                     taps.begin[x_axis], parts_from(taps.begin[x_axis])};
  for (const int multiple : {4, 8}) {
    const std::int64_t aligned = round_down(taps.begin[x_axis], multiple);
    if (parts_from(aligned) == window.parts) window.first_column = aligned;
  }
  if (precision == Precision::fp32 || precision == Precision::fp64 || taps.begin[z_axis] != 0 ||
      taps.end[z_axis] != 1 || window.steps(precision) > most_steps || window.parts > 2)
    return std::nullopt;
  return window;
}

Operand windowed_operand(const Stencil& stencil, const InputWindow& window, Precision element, int part) {
  constexpr int apart = InputWindow::tile_columns;
  const std::int64_t first_column = window.first_column + part * apart;
  const int run = element == Precision::tf32 ? 1 : 2;  // neighbours in a register
  Operand operand{{1, InputWindow::tile_rows, InputWindow::tile_columns}, {}, {}, {run, 2 * run}, {}, {}};
  for (int m = 0; m < InputWindow::tile_rows * InputWindow::tile_columns; ++m)
    operand.outputs.push_back({0, m / 16, m % 8 * 2 + m / 8 % 2});
  for (int row = 0; row < window.rows; ++row)
    for (int first = 0; first < apart; first += run)
      for (const int swapped : {0, apart})
        for (int i = 0; i < run; ++i)
          operand.inputs.push_back({0, window.first_row + row, first_column + first + i + swapped});
  std::map<Index3, double> weight;
  for (const Tap& tap : stencil.taps()) weight[tap.offset] = tap.weight;
  for (const Index3& output : operand.outputs)
    for (std::size_t k = 0; k < operand.inputs.size(); ++k) {
      const std::int64_t reach = operand.inputs[k][x_axis] - first_column - output[x_axis];
      if (reach < 0 || reach >= apart) continue;
      const auto tap = weight.find(operand.inputs[k] - output);
      operand.values.push_back(tap == weight.end() ? 0.0 : tap->second);
      operand.indices.push_back(static_cast<std::uint8_t>(k % (2 * run)));
    }
  return operand;
}

bool takes_window(const Stencil& stencil, Precision precision) {
  return stencil.radius()[y_axis] > 0 && input_window(stencil, precision);
}

}  // namespace spsolve
