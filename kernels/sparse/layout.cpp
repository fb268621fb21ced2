// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/layout.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/rounding.hpp"
#include "kernels/sparse/layout_explorer.hpp"
#include "kernels/sparse/morph.hpp"
#include "kernels/sparse/strided_swap.hpp"

namespace spsolve {
namespace {

Operand cheapest_swap(const Stencil& stencil, const MmaShape& mma, const Index3& shape) {
  const int least = min_swap_length(static_cast<int>(tap_box(stencil).extent()[x_axis]));
  std::optional<Operand> cheapest;
  for (int length = least; length <= std::max(least, mma_rows); length += 2) {
    for (int rows = 1; rows == 1 || (rows * length <= mma_rows && rows <= shape[y_axis]); ++rows) {
      Operand operand = strided_swap(stencil, length, x_axis, rows);
      if (!cheapest || mma_per_output(operand, mma) < mma_per_output(*cheapest, mma))
        cheapest = std::move(operand);
    }
  }
  return *cheapest;
}

}  // namespace

Operand sparse_operand(const Stencil& stencil, Layout layout, const MmaShape& mma, const Index3& shape) {
  switch (layout) {
    case Layout::strided_swap:
      return cheapest_swap(stencil, mma, shape);
    case Layout::morph:
      return morph(stencil, marching_tile(stencil, shape, mma.element), Pairing::columns);
    case Layout::natural_order:
    case Layout::dual_tessellation:
    case Layout::separable:
      break;
  }
  throw std::invalid_argument(std::string(to_string(layout)) + " is not a single sparse operand");
}

double mma_per_output(const Operand& operand, const MmaShape& mma) {
  return static_cast<double>(ceil_div(operand.rows(), mma_rows) * ceil_div(operand.columns(), mma.k)) /
         static_cast<double>(operand.rows() * mma_columns);
}

}  // namespace spsolve
